"""W6: two experiments compared: 10,000 rows of three trials, and 100,000 rows."""

from __future__ import annotations

from bench.measuring import in_turns, measure
from bench.place import Place
from bench.table import Row, times

TRIALS = 3


def run(place: Place) -> list[Row]:
    """Measure the whole command beside reading both sides and a bootstrap, in a bare script."""
    many, huge = place.sizes.many, place.sizes.huge
    for count, home, trials in ((many, "compared", TRIALS), (huge, "compared-huge", 1)):
        for name in ("base", "cand"):
            words = ("--name", name, "--trials", str(trials))
            measure(place.run(count, f"luck_{name}", *words, home=home))
    results = in_turns(
        place.rounds,
        many=place.fairtrial("exp", "compare", "base", "cand", home="compared"),
        many_floor=place.floor("compare", place.store("compared")),
        huge=place.fairtrial("exp", "compare", "base", "cand", home="compared-huge"),
        huge_floor=place.floor("compare", place.store("compared-huge")),
    )
    seconds = {name: result.wall_s for name, result in results.items()}
    return [
        times(
            "W6",
            f"compare {many:,} rows × {TRIALS} trials",
            results["many"],
            results["many_floor"],
            None,
        ),
        Row("W6", f"compare {many:,} rows × {TRIALS}", "ms", 1e3 * seconds["many"], None, 800),
        times("W6", f"compare {huge:,} rows", results["huge"], results["huge_floor"], None),
        Row("W6", f"compare {huge:,} rows", "ms", 1e3 * seconds["huge"], None, 1_500),
    ]

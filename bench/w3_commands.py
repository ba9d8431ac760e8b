"""W3: a program for each case."""

from __future__ import annotations

import json

from bench.measuring import in_turns
from bench.place import Place
from bench.table import Row, times

AT_ONCE = 8


def run(place: Place) -> list[Row]:
    """Measure `/bin/cat` as a command task beside posix_spawn and selectors."""
    count = place.sizes.cases
    # A list: a text would start a shell for each program as well.
    task = json.dumps({"kind": "command", "command": ["/bin/cat"]})
    words = ("--dataset", place.dataset(count), "--task", task, "--grader", "exact")
    results = in_turns(
        place.rounds,
        ours=place.fairtrial("exp", "run", *words, "-c", str(AT_ONCE), "--json"),
        floor=place.floor("commands", count, AT_ONCE),
    )
    return [times("W3", f"{count:,} × /bin/cat", results["ours"], results["floor"], 1.5)]

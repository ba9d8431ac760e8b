"""W9: a run that was interrupted just before its end is resumed."""

from __future__ import annotations

import dataclasses
from functools import partial

from bench.measuring import in_turns, measure
from bench.place import Place
from bench.table import Row, times

MISSING = 10
INTERRUPTED = 130


def run(place: Place) -> list[Row]:
    """Measure the whole command beside reading what is there and writing what is missing."""
    count = place.sizes.many
    stop = dataclasses.replace(place.run(count, "double", home="before"), status=INTERRUPTED)
    measure(dataclasses.replace(stop, env={**stop.env, "STOP_AT": str(count - MISSING)}))
    resume = place.fairtrial("exp", "run", "--resume", "--json", home="resumed")
    results = in_turns(
        place.rounds,
        ours=dataclasses.replace(resume, before=partial(place.copy, "before", "resumed")),
        floor=dataclasses.replace(
            place.floor("resuming", place.store("resumed-raw")),
            before=partial(place.copy, "before", "resumed-raw"),
        ),
    )
    what = f"resume, {MISSING} of {count:,} missing"
    return [times("W9", what, results["ours"], results["floor"], 7.3)]

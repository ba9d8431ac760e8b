"""W2: many cases with a function in our process, an exact grader, everything on disk."""

from __future__ import annotations

import json

from bench.measuring import MB, Result, in_turns
from bench.place import Place
from bench.table import Row, memory, times


def run(place: Place) -> list[Row]:
    """Measure two sizes beside the floor, and the memory of a third."""
    few, many = place.sizes.cases, place.sizes.many
    results = in_turns(
        place.rounds,
        few=place.run(few, "double_async"),
        few_floor=place.floor("cases", place.cases(few), "floor.db"),
        many=place.run(many, "double_async"),
        many_floor=place.floor("cases", place.cases(many), "floor.db"),
        threads=place.run(many, "double"),
    )
    one = _a_trial(results["few"], results["many"], many - few)
    one_floor = _a_trial(results["few_floor"], results["many_floor"], many - few)
    growth = seconds_of_run(results["many"]) / seconds_of_run(results["few"])
    huge = Result([place.huge_run])
    return [
        times("W2", f"{few:,} cases", results["few"], results["few_floor"], 6.4),
        times("W2", f"{many:,} cases", results["many"], results["many_floor"], 8.3),
        Row("W2", "one trial more, CPU", "µs", one, one_floor, None),
        Row("W2", "one trial more, CPU", "µs", one, None, 120),
        Row("W2", f"run of {many:,} / run of {few:,}", "×", growth, None, 11),
        memory("W2", f"{many:,} cases", results["many"], 100),
        times("W2", f"{many:,} cases, not async", results["threads"], results["many_floor"], None),
        Row(
            "W2", f"{place.sizes.huge:,} cases", "ms", huge.wall_s * 1e3, None, None, huge.rss / MB
        ),
        memory("W2", f"{place.sizes.huge:,} cases", huge, 200),
    ]


def seconds_of_run(result: Result) -> float:
    """Return the median time of the runs themselves, without start and report."""
    return Result([type(s)(_seconds(s.output), s.cpu_s, s.rss, b"") for s in result.samples]).wall_s


def _seconds(output: bytes) -> float:
    from datetime import datetime  # noqa: PLC0415  # keeps this process small

    report = json.loads(output)
    begin, end = (datetime.fromisoformat(report[key]) for key in ("created_at", "finished_at"))
    return (end - begin).total_seconds()


def _a_trial(few: Result, many: Result, more: int) -> float:
    return (many.cpu_s - few.cpu_s) / more * 1e6

"""W1: how long it takes until a command says something."""

from __future__ import annotations

from bench.measuring import Command, in_turns, measure
from bench.place import Place
from bench.table import Row, memory, times


def run(place: Place) -> list[Row]:
    """Measure `--version`, `--help` and `exp list` beside an interpreter that does nothing."""
    for _ in range(3):
        measure(place.run(place.sizes.cases, "double_async", "--first-n", "5"))
    results = in_turns(
        3 * place.rounds,
        bare=Command((place.python, "-c", "pass")),
        version=place.fairtrial("--version"),
        top=place.fairtrial("--help"),
        verb=place.fairtrial("exp", "run", "--help"),
        listing=place.fairtrial("exp", "list"),
    )
    bare = results["bare"]
    return [
        times("W1", "--version", results["version"], bare, 1.6),
        memory("W1", "--version", results["version"], 20),
        times("W1", "--help", results["top"], bare, 10),
        times("W1", "exp run --help", results["verb"], bare, 10),
        times("W1", "exp list, small store", results["listing"], bare, 35),
    ]

"""W5: reading a store with many experiments, and an experiment with many rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from bench.first_bytes import Look, first_bytes, serving
from bench.measuring import Command, in_turns, measure
from bench.place import Place
from bench.table import Row, times

IDLE = "/v2/health"
"""What a server answers without reading anything."""
TALLIES = ("tally", "cause_tally", "outcome_tally", "grader_tally", "experiment_cases")


def run(place: Place) -> list[Row]:
    """Measure `exp list` and `exp show`, cold, beside the interpreter and beside their SQL."""
    measure(place.run(place.sizes.cases, "double_async", home="many"))
    with closing(sqlite3.connect(place.store("many"))) as store, store:
        _multiply(store, place.sizes.experiments)
    assert place.huge_run.output
    results = in_turns(
        2 * place.rounds,
        bare=Command((place.python, "-c", "pass")),
        listing=place.fairtrial("exp", "list", home="many"),
        list_where=place.fairtrial("exp", "list", "--where", "cost > 1M", home="many"),
        show_where=place.fairtrial(
            "exp", "show", f"d{place.sizes.huge}", "--where", "score > 2", home="huge"
        ),
        list_sql=place.floor("reading", "list", place.store("many")),
        show=place.fairtrial("exp", "show", f"d{place.sizes.huge}", home="huge"),
        show_sql=place.floor("reading", "show", place.store("huge")),
    )
    experiments, rows = f"{place.sizes.experiments:,} experiments", f"{place.sizes.huge:,} rows"
    bare = results["bare"]
    return [
        times("W5", f"exp list, {experiments}; bare Python", results["listing"], bare, 35),
        times(
            "W5", f"exp list, {experiments}; its SQL", results["listing"], results["list_sql"], None
        ),
        times("W5", f"exp show, {rows}; bare Python", results["show"], bare, 35),
        # Filters that nothing fits: each looks at everything there is.
        times(
            "W5",
            f"exp list --where, {experiments}; bare Python",
            results["list_where"],
            bare,
            45,
        ),
        times("W5", f"exp show --where, {rows}; bare Python", results["show_where"], bare, 55),
        times("W5", f"exp show, {rows}; its SQL", results["show"], results["show_sql"], None),
        *_pages(place, experiments, rows),
    ]


def _pages(place: Place, experiments: str, rows: str) -> Iterator[Row]:
    """Yield the first bytes of pages, beside an answer of the same server that reads nothing."""
    list_words = {"list": "list", "where": "list, filtered", "sort": "list, sorted"}
    with serving(place.fairtrial("serve", "--port", "0", home="many")) as server:
        taken = first_bytes(
            server,
            2 * place.rounds,
            idle=IDLE,
            list="/experiments",
            where="/experiments?where=cost+%3E+1M",
            sort="/experiments?sort=pass_rate",
        )
    for name, what in list_words.items():
        yield _beside(f"page: {what}, {experiments}", taken[name], taken["idle"], 15)
    yield _size(f"page: list, {experiments}", taken["list"])
    names = [_compared(place, number) for number in (1, 2)]
    huge = f"/experiments/d{place.sizes.huge}"
    row = "%5B%22c000007%22%2C%22default%22%2C%22main%22%5D"
    words = {"page": "experiment", "failed": "its failed rows", "row": "with a row open"}
    with serving(place.fairtrial("serve", "--port", "0", home="huge")) as server:
        taken = first_bytes(
            server,
            2 * place.rounds,
            idle=IDLE,
            page=huge,
            failed=f"{huge}?show=failed",
            row=f"{huge}?row={row}",
            compare=f"/compare?a={names[0]}&b={names[1]}",
            side=f"/side-by-side?ids={names[0]},{names[1]}",
        )
    for name, what in words.items():
        target = 25 if name == "row" else 15
        yield _beside(f"page: {what}, {rows}", taken[name], taken["idle"], target)
    yield _size(f"page: experiment, {rows}", taken["page"])
    both = f"{place.sizes.many:,} × {place.sizes.many:,} rows"
    yield _beside(f"page: comparison, {both}", taken["compare"], taken["idle"], 60)
    yield _beside(f"page: side by side, {both}", taken["side"], taken["idle"], 60)
    for name, what in {"page": f"experiment, {rows}", "compare": f"comparison, {both}"}.items():
        first = 1000 * taken[name].first_s
        yield Row("W5", f"page: {what}; its first look", "ms", first, None, None)


def _compared(place: Place, number: int) -> str:
    """Run one of two experiments that are compared; return its name."""
    name = f"side-{number}"
    measure(place.run(place.sizes.many, "double_async", "--name", name, home="huge"))
    return name


def _beside(what: str, ours: Look, floor: Look, target: float) -> Row:
    return Row(
        "W5",
        f"first byte, {what}; {IDLE}",
        "ms",
        1000 * ours.seconds,
        1000 * floor.seconds,
        target,
        cpu=ours.cpu_s / floor.cpu_s if floor.cpu_s else 0.0,
    )


def _size(what: str, look: Look) -> Row:
    return Row("W5", f"{what}: size", "KB", look.size / 1024, None, 60)


def _multiply(store: sqlite3.Connection, count: int) -> None:
    """Copy the one experiment of a store, with all its sums, until there are so many."""
    for table in ("experiment", *TALLIES):
        columns = [name for _, name, *_ in store.execute(f"PRAGMA table_info({table})")]
        chosen = {name: name for name in columns}
        chosen["id" if table == "experiment" else "experiment_id"] = "1 + n"
        if table == "experiment":
            chosen["ref"] = "substr(ref, 1, 22) || printf('%08d', n)"
            chosen["name"] = "'copy-' || (n % 100)"
        store.execute(
            f"WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < ?) "  # noqa: S608  # names of our own tables
            f"INSERT INTO {table} ({', '.join(columns)}) "
            f"SELECT {', '.join(chosen.values())} FROM {table}, more",
            (count - 1,),
        )

"""W5: reading a store with many experiments, and an experiment with many rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from bench.first_bytes import first_bytes, serving
from bench.measuring import Command, in_turns, measure
from bench.place import Place
from bench.table import Row, times

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
    idle = "/v2/health"
    with serving(place.fairtrial("serve", "--port", "0", home="many")) as address:
        taken = first_bytes(
            address,
            2 * place.rounds,
            idle=idle,
            list="/experiments",
            where="/experiments?where=cost+%3E+1M",
            sort="/experiments?sort=pass_rate",
        )
    words = {"list": "the list's page", "where": "the same, filtered", "sort": "the same, sorted"}
    for name, what in words.items():
        yield _beside(f"first byte, {what}, {experiments}; /v2/health", taken[name], taken["idle"])
    huge = f"/experiments/d{place.sizes.huge}"
    with serving(place.fairtrial("serve", "--port", "0", home="huge")) as address:
        row = "%5B%22c000007%22%2C%22default%22%2C%22main%22%5D"
        taken = first_bytes(
            address,
            2 * place.rounds,
            idle=idle,
            page=huge,
            failed=f"{huge}?show=failed",
            row=f"{huge}?row={row}",
        )
    words = {"page": "its page", "failed": "its failed rows", "row": "its page with a row open"}
    for name, what in words.items():
        yield _beside(f"first byte, {what}, {rows}; /v2/health", taken[name], taken["idle"])


def _beside(what: str, ours: float, floor: float) -> Row:
    return Row("W5", what, "ms", 1000 * ours, 1000 * floor, None)


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

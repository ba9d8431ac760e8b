"""Filters, as one types them: of experiments, rows, calls and sessions."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from tests.cli.conftest import EXACT, Command


@pytest.fixture
def tried(fairtrial: Command, folder: Path) -> Path:
    """Two experiments of four cases: `first` fails none, `second` fails two."""
    cases = [
        {"id": f"c{n}", "input": n, "expected": str(n), "tags": ["even"] if n % 2 == 0 else []}
        for n in range(4)
    ]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    assert fairtrial("dataset", "add", "numbers", "cases.jsonl").code == 0
    run = ("exp", "run", "--dataset", "numbers", *EXACT)
    for name, edit in (("first", "s/x/x/"), ("second", "s/[23]/x/")):
        task = json.dumps({"kind": "command", "command": ["sed", edit]})
        assert fairtrial(*run, "--name", name, "--task", task).code == 0
    return folder


@pytest.mark.usefixtures("tried")
def test_experiments_are_filtered(fairtrial: Command) -> None:
    found = fairtrial("exp", "list", "-w", "score.exact < 0.8 and status = done", "--json").json
    assert [one["name"] for one in found["experiments"]] == ["second"]
    assert "No experiment fits" in fairtrial("exp", "list", "-w", "source = sdk").out
    page = fairtrial("exp", "list", "-w", "dataset = numbers", "-n", "1")
    typed = page.out.splitlines()[-1].removeprefix("Older ones: fairtrial ")
    rest = fairtrial(*shlex.split(typed))
    assert "first" in rest.out
    assert "second" not in rest.out


@pytest.mark.usefixtures("tried")
def test_rows_are_filtered_page_by_page(fairtrial: Command) -> None:
    found = fairtrial("exp", "show", "second", "-w", "score.exact < 0.8", "--json").json
    assert (found["schema"], found["n_rows"], found["next"]) == ("fairtrial.rows/1", 2, None)
    assert [row["case_id"] for row in found["rows"]] == ["c2", "c3"]
    first = fairtrial("exp", "show", "second", "-w", "is:failed", "-n", "1")
    assert "2 rows fit" in first.out
    typed = next(line for line in first.out.splitlines() if line.startswith("Further ones: "))
    then = fairtrial(*shlex.split(typed.removeprefix("Further ones: fairtrial ")))
    assert "c3" in then.out
    assert "c2" not in then.out.replace("--case c2", "")
    assert "0 rows fit" in fairtrial("exp", "show", "second", "-w", "tag = odd").out
    even = fairtrial("exp", "show", "second", "-w", "tag = even and is:regressed", "--json").json
    assert [row["case_id"] for row in even["rows"]] == ["c2"]
    worse = fairtrial("exp", "show", "second", "-w", "delta.exact < 0", "--json").json
    assert worse["n_rows"] == 2


@pytest.mark.usefixtures("tried")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("exp", "list", "-w", "scor.exact < 1"), 64, "did you mean score"),
        (("exp", "show", "second", "-w", "score.exakt < 1"), 64, "did you mean score.exact?"),
        (("exp", "show", "second", "-w", "is:faild"), 64, "did you mean is:failed?"),
        (("exp", "show", "first", "-w", "is:regressed"), 66, "no baseline"),
        (("exp", "show", "first", "-w", "is:failed", "--case", "c1"), 64, "without --case"),
        (("exp", "show", "first", "--after", "x"), 64, "no effect without --where"),
        (("exp", "show", "first", "-w", "c", "--after", "x"), 64, "no row to go on after"),
        (("exp", "export", "first", "--to", "html", "-w", "c"), 64, "sum all of it up"),
        (("calls", "list", "-w", "is:broken"), 64, "calls have no property"),
        (("sessions", "flags", "latest", "-w", "x"), 64, "leave the session out"),
        (("sessions", "export", "--to", "jsonl"), 64, "nothing says which sessions"),
    ],
)
def test_what_is_wrong_is_said(
    fairtrial: Command, words: tuple[str, ...], code: int, said: str
) -> None:
    done = fairtrial(*words)
    assert done.code == code
    assert said in done.err
    if "column" in done.err:
        mark = next(line for line in done.err.splitlines() if line.strip() == "^")
        shown = done.err.splitlines()[1]
        assert shown[mark.index("^")] != " "


@pytest.mark.usefixtures("tried")
def test_trials_of_fitting_rows_are_exported(fairtrial: Command) -> None:
    text = fairtrial("exp", "export", "second", "--to", "jsonl", "-w", "is:failed").out
    assert [json.loads(line)["case_id"] for line in text.splitlines()] == ["c2", "c3"]
    table = fairtrial("exp", "export", "second", "--to", "csv", "-w", "output ~ x").out
    assert len(table.splitlines()) == 3


def test_calls_are_filtered(fairtrial: Command) -> None:
    assert "No call fits" in fairtrial("calls", "list", "-w", "is:failed and cost > 1").out

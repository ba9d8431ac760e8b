"""Experiments side by side, without a browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.http.conftest import Server

from fairtrial.app import side_by_side as paging
from fairtrial.app.bench import Bench
from fairtrial.app.side_by_side import SideBySideRequest, side_by_side
from fairtrial.cli.main import main
from fairtrial.model.errors import UsageError


@pytest.fixture
def two(folder: Path) -> None:
    """Two experiments of 7 cases: the second fails the odd ones, and has no c0."""
    for name, first in (("one", 0), ("two", 1)):
        cases = [{"id": f"c{n}", "input": n, "expected": "yes"} for n in range(first, 7)]
        (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
        main(["dataset", "add", "d", "cases.jsonl"])
        odd = "int(sys.stdin.read()) % 2" if name == "two" else "0"
        program = f"import sys; print('no' if {odd} else 'yes')"
        spec = {
            "dataset": "d",
            "task": {"kind": "command", "command": ["python3", "-c", program]},
            "graders": ["contains"],
        }
        (folder / "spec.json").write_text(json.dumps(spec))
        main(["exp", "run", "spec.json", "--name", name])


def ids(bench: Bench, request: SideBySideRequest) -> list[str]:
    return [row[0].row.key.case_id for row in side_by_side(bench, request).rows]


@pytest.mark.usefixtures("two")
def test_only_shared_rows_stand_side_by_side(bench: Bench) -> None:
    both = ("one", "two")
    assert ids(bench, SideBySideRequest(both)) == ["c1", "c2", "c3", "c4", "c5", "c6"]
    assert ids(bench, SideBySideRequest(both, show="differ")) == ["c1", "c3", "c5"]
    assert ids(bench, SideBySideRequest(both, show="failed")) == ["c1", "c3", "c5"]


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(("name", "size"), [("_PAGE", 2), ("_LOOKED_AT", 2), ("_READ", 2)])
def test_pages_go_on_whatever_ends_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, name: str, size: int
) -> None:
    monkeypatch.setattr(paging, name, size)
    monkeypatch.setattr(paging, "_READ", 2)
    seen: list[str] = []
    after: str | None = None
    while True:
        found = side_by_side(bench, SideBySideRequest(("one", "two"), show="differ", after=after))
        seen += [row[0].row.key.case_id for row in found.rows]
        if found.next is None:
            break
        after = json.dumps(found.next)
    assert seen == ["c1", "c3", "c5"]


@pytest.mark.usefixtures("two")
def test_what_cannot_be_chosen_is_refused(bench: Bench) -> None:
    for refs in (("one",), ("one",) * 9, ("one", "one")):
        with pytest.raises(UsageError):
            side_by_side(bench, SideBySideRequest(refs))
    with pytest.raises(UsageError, match="scored by nobody"):
        side_by_side(bench, SideBySideRequest(("one", "two"), by=("nobody",)))


@pytest.mark.usefixtures("two")
def test_the_page_says_what_is_wrong(server: Server) -> None:
    for path, status in (
        ("/side-by-side", 400),
        ("/side-by-side?ids=one,exp_gone", 404),
        ("/side-by-side?ids=one,two&by=nobody", 400),
        ("/side-by-side?ids=one,two&after=x", 400),
        ("/side-by-side?ids=one,two", 200),
    ):
        assert server.ask(path, headers={"accept": "text/html"}).status == status, path

"""`exp ab --watch`: a run whenever B changes, one line each."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.cli.conftest import Command
from tests.cli.test_exp_ab import RUN, SKIP, Home, home
from tests.cli.test_watching import Script

from fairtrial.app.bench import bench_here
from fairtrial.app.requests.exp_ab import Request
from fairtrial.app.spec_files import build_request
from fairtrial.cli.watching import Wake
from fairtrial.cli.watching_ab import watched_ab

__all__ = ["home"]
Watched = Callable[..., list[Any]]


@pytest.fixture
def watch(home: Home, capfd: pytest.CaptureFixture[str]) -> Watched:
    """Watch while a script goes on, and return the lines as JSON."""

    def watched(*steps: Callable[[], object] | Wake, **given: Any) -> list[Any]:
        options = {"since": "3650d", "provider": str(home.path / "model.json"), "limit": 2}
        bench = bench_here()
        request = build_request(Request, {**options, "watch": True, **given}, home.repo)
        capfd.readouterr()
        try:
            assert watched_ab(bench, request, as_json=True, source=Script(steps)) == 0
        finally:
            bench.close()
        return [json.loads(line) for line in capfd.readouterr().out.splitlines()]

    return watched


def test_each_change_of_b_is_one_run_and_what_stays_the_same_is_none(
    home: Home, watch: Watched
) -> None:
    home.edit(RUN)
    lines = watch(lambda: home.edit(SKIP), lambda: (home.repo / "other.txt").write_text("x"))
    assert [line["number"] for line in lines] == [1, 2]
    assert [line["error"] for line in lines] == [None, None]
    assert lines[0]["id"] != lines[1]["id"]
    assert "fixed" in lines[0]["sentence"]


def test_a_run_that_cannot_begin_is_told_once_and_the_next_edit_is_tried(
    home: Home, watch: Watched
) -> None:
    home.edit("<<<<<<< one", "a", "=======", "b", ">>>>>>> two")
    lines = watch(lambda: None, lambda: home.edit(RUN))
    assert [line["exit_code"] for line in lines] == [64, 0]
    assert "CLAUDE.md" in lines[0]["error"]


def test_enter_runs_again(home: Home, watch: Watched) -> None:
    home.edit(RUN)
    assert len(watch(Wake.AGAIN)) == 2


def test_a_draft_elsewhere_is_watched_where_it_lies(home: Home, watch: Watched) -> None:
    draft = home.path / "drafts" / "CLAUDE.md"
    draft.parent.mkdir()
    draft.write_text(RUN)
    lines = watch(lambda: draft.write_text(SKIP), b=str(draft))
    assert len(lines) == 2


def test_a_line_for_people_names_the_experiment(
    home: Home, fairtrial: Command, capfd: pytest.CaptureFixture[str]
) -> None:
    del fairtrial
    home.edit(RUN)
    options = {"since": "3650d", "provider": str(home.path / "model.json"), "watch": True}
    bench = bench_here()
    request = build_request(Request, options, home.repo)
    try:
        watched_ab(bench, request, as_json=False, source=Script([]))
    finally:
        bench.close()
    (line,) = capfd.readouterr().out.splitlines()
    assert "run 1  exp_" in line
    assert "8 fixed, 0 broken of 12" in line

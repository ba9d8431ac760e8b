"""`exp ab --watch`: a run whenever B changes, one line each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command
from tests.cli.test_exp_ab import RUN, SKIP, Home, home
from tests.cli.test_watching import Script

from fairtrial.app.ab_watching import AbWatch
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


def test_a_conflict_below_the_root_is_watched_until_it_is_settled(home: Home) -> None:
    rule = home.repo / ".claude" / "rules" / "one.md"
    rule.parent.mkdir(parents=True)
    rule.write_text("<<<<<<< one\na\n=======\nb\n>>>>>>> two\n")
    foreign = home.repo / "node_modules" / "x" / "CLAUDE.md"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("no part of it\n")
    assert folders(home) == {home.repo, rule.parent}


def test_scripts_of_a_skill_in_a_draft_are_watched(home: Home) -> None:
    draft = home.path / "draft"
    script = draft / ".claude" / "skills" / "one" / "scripts" / "run.py"
    script.parent.mkdir(parents=True)
    script.write_text("pass\n")
    (draft / "CLAUDE.md").write_text(f"{RUN}\n")
    assert folders(home, str(draft)) == {draft, script.parent}


@pytest.mark.parametrize("given", ["x" * 5_000, "~nobody-at-all/x", "gone/CLAUDE.md", "none"])
def test_what_is_not_there_leaves_the_repository_watched(home: Home, given: str) -> None:
    assert folders(home, given) == {home.repo}


def folders(home: Home, given: str | None = None) -> set[Path]:
    """Return what is watched for a B."""
    bench = bench_here()
    try:
        request = build_request(Request, {"b": given, "watch": True}, home.repo)
        return AbWatch(request).folders(bench)
    finally:
        bench.close()


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

"""`eval report` and `exp show`: a stored run of eval tasks is told again, and written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.app.suite_repo import a_repo, a_task, loaded
from tests.cli.conftest import EXACT, Command

from fairtrial.app.bench import bench_here

HALF = "test -e AGENTS.md && sed -i 's/a - b/a + b/' calc.py"


@pytest.fixture
def runs(fairtrial: Command, folder: Path) -> Path:
    """Two runs of a suite of one task: the agent of the first fails."""
    a_task(folder, a_repo(folder))
    with_bench = bench_here()
    loaded(with_bench, folder)
    with_bench.close()
    for name, command in (("first", "echo nothing"), ("second", HALF)):
        words = ("--command", command, "--level", "none", "--trials", "1", "--name", name)
        assert fairtrial("eval", "run", "failures", *words).code == 0
    return folder


def test_a_run_is_named_by_itself_or_its_suite_or_not_at_all(
    runs: Path, fairtrial: Command
) -> None:
    del runs
    named = fairtrial("eval", "report", "first", "--json").json
    assert named["experiment"]["name"] == "first"
    assert named["told"][0]["last_words"] == "add is wrong"
    for words in ((), ("failures",)):
        newest = fairtrial("eval", "report", *words, "--json").json
        assert newest["experiment"]["name"] == "second"
    text = fairtrial("eval", "report", "first").out
    assert "Did not pass: 1 trial" in text


def test_documents_are_written_by_the_ending_of_their_file(runs: Path, fairtrial: Command) -> None:
    for name, starts in (("r.html", "<!doctype html>"), ("r.md", "<!-- fairtrial:eval -->")):
        assert fairtrial("eval", "report", "first", "-o", name).code == 0
        assert (runs / name).read_text().startswith(starts)
    assert fairtrial("eval", "report", "--to", "markdown").out.startswith("<!-- fairtrial:eval")
    outcome = fairtrial("eval", "report", "-o", "r.txt")
    assert outcome.code == 64
    assert "--to markdown or --to html" in outcome.err


def test_what_is_no_run_of_eval_tasks_is_refused(fairtrial: Command, numbers: str) -> None:
    outcome = fairtrial("eval", "report")
    assert (outcome.code, "no run of eval tasks" in outcome.err) == (66, True)
    task = '{"kind":"command","command":["cat"]}'
    assert fairtrial("exp", "run", "-d", numbers, "--task", task, *EXACT).code == 0
    outcome = fairtrial("eval", "report", numbers)
    assert (outcome.code, "is no run of eval tasks" in outcome.err) == (64, True)
    assert fairtrial("eval", "report", "nothing").code == 66


def test_a_case_shows_the_change_and_what_the_verifier_printed(
    runs: Path, fairtrial: Command
) -> None:
    del runs
    failed = fairtrial("exp", "show", "first", "--case", "fix-add").out
    assert "verifier's stderr" in failed
    assert "        add is wrong" in failed
    assert "changed nothing" in failed
    passed = fairtrial("exp", "show", "second", "--case", "fix-add").out
    assert "    -    return a - b\n    +    return a + b" in passed
    assert "isolation  none" in passed

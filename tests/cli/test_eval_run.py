"""`eval run`: an experiment on a suite, with all that experiments can do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.app.suite_repo import a_repo, a_task, folder_of, loaded
from tests.cli.conftest import Command, Outcome

from fairtrial.app.bench import bench_here

RULE = "Always fix add.\n"
FOLLOWS = "grep -q 'fix add' AGENTS.md && sed -i 's/a - b/a + b/' calc.py; echo done"
FIXES = "sed -i 's/a - b/a + b/' calc.py; echo fixed"
IDLE = "echo nothing to do"
NONE = ("--level", "none")

Run = Callable[..., Outcome]


@pytest.fixture
def suite(folder: Path) -> Path:
    """A repository with a suite of two tasks, loaded."""
    commit = a_repo(folder)
    a_task(folder, commit, "fix-add")
    a_task(folder, commit, "again", tags=("hard",), reference="diff")
    (folder / "new").mkdir()
    (folder / "new" / "AGENTS.md").write_text(RULE)
    with_bench = bench_here()
    loaded(with_bench, folder, "fix-add", "again")
    with_bench.close()
    return folder


@pytest.fixture
def run(fairtrial: Command, suite: Path) -> Run:
    del suite

    def running(*words: str) -> Outcome:
        seed = () if "--resume" in words else ("--seed", "1")
        return fairtrial("eval", "run", *words, *seed)

    return running


def ran(outcome: Outcome) -> Any:
    assert outcome.code == 0, outcome.err
    return outcome.json


def test_a_run_says_how_reliably_the_tasks_are_solved(run: Run) -> None:
    report = ran(run("failures", "--command", FIXES, *NONE, "--trials", "2", "--json"))
    assert report["schema"] == "fairtrial.eval/1"
    (arm,) = report["arms"]
    assert arm["pass_at"]["1"]["estimate"] == arm["pass_hat"]["2"]["estimate"] == 1.0
    assert [task["task"] for task in report["tasks"]] == ["again", "fix-add"]
    assert report["tasks"][0]["arms"] == {"main": {"passed": 2, "failed": 0, "undecided": 0}}
    assert report["told"] == []
    experiment = report["experiment"]
    assert experiment["dataset"] == "evals/failures@1"
    assert experiment["name"] == "failures"
    assert experiment["note"] is None
    (isolation,) = report["isolation"]
    assert (isolation["level"], isolation["trials"]) == ("none", 4)
    notes = "\n".join(report["notes"])
    for what in ("fewer than 20", "Not validated", "reference solution, so perhaps", "fix-add"):
        assert what in notes


def test_a_failed_trial_comes_with_the_verifiers_last_words(run: Run) -> None:
    outcome = run("fix-add", "--command", IDLE, *NONE, "--trials", "1")
    assert outcome.code == 0
    assert "Did not pass: 1 trial" in outcome.out
    assert "add is wrong" in outcome.out
    assert "draft, no reference" in outcome.out
    assert "level none; held: copy" in outcome.out


def test_arms_differ_by_their_harness(run: Run, fairtrial: Command) -> None:
    arms = ("--arm", "before=AGENTS.md", "--arm", "after=new/AGENTS.md")
    report = ran(run("failures", "--command", FOLLOWS, *NONE, *arms, "--trials", "1", "--json"))
    rates = {arm["arm"]: arm["pass_at"]["1"]["estimate"] for arm in report["arms"]}
    assert rates == {"before": 0.0, "after": 1.0}
    experiment = report["experiment"]
    assert experiment["comparison"]["counts"]["fixed"] == 2
    compared = fairtrial("exp", "compare", experiment["id"], "--gate", "--json")
    assert compared.json["decision"]["outcome"] in ("hold", "too_few")


def test_three_arms_stand_beside_their_baseline(run: Run) -> None:
    new = json.dumps({"harness": {"AGENTS.md": RULE}, "memory_mb": 500})
    arms = ("--arm", "a=AGENTS.md", "--arm", "b=new/AGENTS.md", "--arm", f"c={new}")
    report = ran(run("failures", "--command", FOLLOWS, *NONE, *arms, "--trials", "1", "--json"))
    rates = {arm["arm"]: arm["pass_at"]["1"]["estimate"] for arm in report["arms"]}
    assert rates == {"a": 0.0, "b": 1.0, "c": 1.0}
    assert report["experiment"]["matrix"]["baseline"] == "a"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "no suite and no task is named"),
        (("nothing",), "there is no suite and no eval task nothing"),
        (("failures", "--agent", "command"), "needs to know what to run"),
        (("failures", "--command", "true", "--arm", "a=AGENTS.md"), "one arm only"),
        (("failures", "--command", "true", "--arm", "a=b.md", "--arm", "c=d.md"), "no such file"),
        (("failures", "--command", "true", "--arm", "AGENTS.md"), "is not NAME=FILE"),
        (
            ("failures", "--command", "true", "--arm", "a={", "--arm", "b=AGENTS.md"),
            "not JSON",
        ),
        (
            ("failures", "--command", "true", "--arm", 'a={"modle":1}', "--arm", "b=AGENTS.md"),
            "modle",
        ),
        (
            ("failures", "--command", "true", "--harness", "x", "--arm", "b=AGENTS.md"),
            "both --harness and --arm",
        ),
        (("failures", "--command", "true", "--harness", "missing.md"), "missing.md"),
        (("failures", "--tag", "slow", "--command", "true"), "has the tag slow"),
        (("failures", "--trials", "0"), "trials"),
        (("failures", "--agent", "clippy"), "clippy"),
        (("failures", "--command", "true", "--level", "image"), "has no image"),
        (("--resume", "exp_nothing"), "exp_nothing"),
        (("--resume",), "no unfinished run of eval tasks"),
        (("--resume", "exp_nothing", "--trials", "2"), "cannot change what is resumed"),
    ],
)
def test_what_cannot_run_is_told(run: Run, words: tuple[str, ...], says: str) -> None:
    outcome = run(*words)
    assert outcome.code in (64, 66)
    assert says in outcome.err


def test_nothing_that_may_cost_money_starts_without_consent(run: Run, suite: Path) -> None:
    program = suite / "claude"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    agent = ("--agent", "claude-code", "--program", str(program))
    outcome = run("failures", *agent)
    assert outcome.code == 77
    assert "not without your consent: 6 trials would run, at a cost of unknown" in outcome.err
    assert "--yes" in outcome.err
    plan = run("failures", *agent, "--dry-run", "--json")
    assert plan.code == 0
    assert plan.json["schema"] == "fairtrial.eval-plan/1"
    assert plan.json["n_due"] == 6
    assert plan.json["cost"]["least_usd"] is None


def test_a_level_that_does_not_work_here_is_told_before_anything_runs(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("git", "sh", "python3"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(programs))
    outcome = run("failures", "--command", FIXES)
    assert outcome.code == 64
    assert "level bwrap does not work here" in outcome.err
    assert "--level none" in outcome.err
    assert run("failures", "--command", FIXES, *NONE, "--trials", "1").code == 0


def test_an_edited_task_is_loaded_before_it_runs(run: Run, suite: Path) -> None:
    (folder_of(suite, "fix-add") / "instruction.md").write_text("Fix it all")
    outcome = run("failures", "--command", "true", *NONE)
    assert outcome.code == 64
    assert "fairtrial eval import evals/failures/tasks/fix-add" in outcome.err


def test_what_experiments_can_do_works_on_a_run(run: Run, fairtrial: Command) -> None:
    words = ("failures", "--command", FIXES, *NONE, "--trials", "1", "--name")
    assert run(*words, "first").code == 0
    assert run(*words, "second").code == 0
    for command in (
        ("exp", "show", "first"),
        ("exp", "compare", "first", "second"),
        ("exp", "status", "first"),
        ("exp", "list"),
        ("exp", "regrade", "first", "--name", "regraded"),
        ("exp", "baseline", "set", "first"),
        ("exp", "export", "first", "--to", "junit", "-o", "report.xml"),
        ("exp", "show", "first", "--case", "again"),
    ):
        outcome = fairtrial(*command)
        assert outcome.code == 0, (command, outcome.err)
    regraded = fairtrial("exp", "show", "regraded", "--json").json
    assert (regraded["passed"], regraded["undecided"]) == (2, 0)

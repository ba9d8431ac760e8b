"""A good task validates; and for each check there is a task that fails just that one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.suites.validation.trial import (
    FILES,
    FIVE,
    REFERENCE,
    a_good_task,
    a_repo,
    failed,
    of,
    validation_of,
    verified_by,
)

from fairtrial.model.errors import TaskError
from fairtrial.model.eval_task import Command, TaskStatus
from fairtrial.model.isolation import Level
from fairtrial.suites.validation.findings import Check, State
from fairtrial.suites.validation.lint import check_lint
from fairtrial.suites.validation.trying import Tried

_HIDDEN = {
    "hidden_check.py": b"from calc import add\n"
    b"assert add(20, 22) == 42, 'twenty and twenty-two'\n"
    b"assert add(-1, 1) == 0, 'one less and one more'\n"
    b"assert add(0, 0) == 0, 'nothing and nothing at all'\n"
}
_SECRET = _HIDDEN["hidden_check.py"].decode()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return a_repo(tmp_path / "repo")


def test_a_good_task_validates(repo: Path, tmp_path: Path) -> None:
    costs: list[float | None] = []
    validation = validation_of(tmp_path / "store", a_good_task(repo), told=costs.append)
    assert failed(validation) == []
    assert validation.status is TaskStatus.VALIDATED
    assert validation.reason is None
    assert validation.warnings == ()
    states = {checked.check: checked.state for checked in validation.checks}
    assert list(states) == list(Check)
    assert [check for check, state in states.items() if state is State.SKIPPED] == [Check.JUDGE]
    assert of(validation, Check.NOTHING_DONE).facts == {"tries": 2, "passed": 0}
    assert of(validation, Check.REFERENCE).facts == {"tries": 2, "passed": 2}
    assert of(validation, Check.NEAR_MISSES).facts == {"tried": 1, "passed": 0}
    assert len(costs) == 2 + 2 + 1 + 1  # nothing, the reference, the near miss, check.py
    assert validation.content()["reason"] is None


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_a_good_task_validates_in_a_sandbox(tmp_path: Path) -> None:
    repo = a_repo(tmp_path / "repo")
    validation = validation_of(tmp_path / "store", a_good_task(repo), level=Level.BWRAP)
    assert failed(validation) == []
    assert validation.level == "bwrap"


def a_suite_case(
    name: str, check: Check, reason: str, changed: Mapping[str, Any], *files: tuple[str, str]
) -> Any:
    return pytest.param(check, reason, changed, dict(files), id=name)


@pytest.mark.parametrize(
    ("check", "reason", "changed", "files"),
    [
        a_suite_case(
            "done-already",
            Check.NOTHING_DONE,
            "doing nothing passes the verifier, 2 of 2 times (let it check what",
            {**verified_by("true"), "near_misses": {}},
        ),
        a_suite_case(
            "no-reference",
            Check.REFERENCE,
            "there is no reference.patch, so nothing shows that the task can be done",
            {"reference": None},
        ),
        a_suite_case(
            "empty-reference",
            Check.REFERENCE,
            "the reference changes nothing",
            {"reference": "\n"},
        ),
        a_suite_case(
            "wrong-reference",
            Check.REFERENCE,
            "the reference passes 0 of 2 times: the verifier failed: exit status 1: "
            "AssertionError (repair the reference, or the verifier)",
            {"reference": FIVE},
        ),
        a_suite_case(
            "foreign-reference",
            Check.REFERENCE,
            "reference.patch: the patch does not apply: error: calc.py: patch does not apply",
            {"reference": REFERENCE.replace("-    return a - b", "-    return a * b")},
        ),
        a_suite_case(
            "protected-reference",
            Check.REFERENCE,
            "(its changes to protected or hidden files do not count: calc.py)",
            verified_by("python3 check.py", protected=("check.py", "calc.*")),
        ),
        a_suite_case(
            "no-such-verifier",
            Check.REFERENCE,
            "not found (a program of the verifier is not found: let the setup install it",
            verified_by("no-such-runner --all"),
        ),
        a_suite_case(
            "near-miss",
            Check.NEAR_MISSES,
            "the verifier passes the near miss near_misses/five.patch (let it check what",
            verified_by("python3 -c 'import calc; assert calc.add(2, 3) == 5'"),
        ),
        a_suite_case(
            "renamed-copy",
            Check.LEAKS,
            'notes.txt holds the hidden file hidden_check.py (add "notes.txt" to hidden in',
            verified_by("python3 hidden_check.py", hidden=_HIDDEN),
            ("notes.txt", f"Tests of next week:\n{_SECRET}"),
        ),
        a_suite_case(
            "instruction",
            Check.LEAKS,
            "instruction.md holds most lines of the hidden file hidden_check.py (say what is",
            {
                **verified_by("python3 hidden_check.py", hidden=_HIDDEN),
                "instruction": "Make this hold:\n> " + "\n> ".join(_SECRET.split("\n")[1:4]),
            },
        ),
        a_suite_case(
            "own-suite",
            Check.LEAKS,
            'evals/s/tasks/t/reference.patch holds reference.patch (add "evals/*" to hidden in',
            {},
            ("evals/s/tasks/t/reference.patch", REFERENCE),
        ),
        a_suite_case(
            "later-commit",
            Check.HISTORY,
            "1 commit that HEAD does not lead to can be read from .git",
            {
                "setup": Command(
                    "git -c user.name=A -c user.email=a@x commit -q --allow-empty -m later && "
                    "git reset -q HEAD^ && rm -rf .git/logs .git/ORIG_HEAD",
                    60.0,
                )
            },
        ),
        a_suite_case(
            "other-reward",
            Check.DETERMINISM,
            "flaky: with nothing done, the verifier says different things: ",
            verified_by(
                "python3 check.py || "
                '{ date +0.%N | cut -c 1-12 > "$FAIRTRIAL_REWARD_FILE"; exit 1; }',
                protected=("check.py",),
            ),
        ),
        a_suite_case(
            "unprotected",
            Check.TAMPERING,
            'the verifier passes when check.py always passes (add "check.py" to protected in',
            verified_by("python3 check.py"),
        ),
        a_suite_case(
            "failing-setup",
            Check.WORKSPACE,
            "the setup failed: exit status 3: no network today",
            {"setup": Command("echo no network today >&2; exit 3", 60.0)},
        ),
    ],
)
def test_a_task_fails_one_check(
    tmp_path: Path, check: Check, reason: str, changed: Mapping[str, Any], files: dict[str, str]
) -> None:
    repo = a_repo(tmp_path / "repo", {**FILES, **files})
    validation = validation_of(tmp_path / "store", a_good_task(repo, **changed))
    assert failed(validation) == [check]
    assert reason in str(validation.reason)
    assert validation.status is TaskStatus.DRAFT


def test_a_near_miss_that_does_not_apply_is_told(repo: Path, tmp_path: Path) -> None:
    stale = FIVE.replace("-    return a - b", "-    return a * b")
    task = a_good_task(repo, near_misses={"stale": stale, "empty": ""})
    validation = validation_of(tmp_path / "store", task)
    assert failed(validation) == []
    told = [finding.text for finding in of(validation, Check.NEAR_MISSES).warnings]
    assert told[0].startswith("near_misses/stale.patch shows nothing: the patch does not apply")
    assert told[1] == "near_misses/empty.patch is empty, so it shows nothing"


def test_a_flaky_verifier_is_told_with_its_counts(repo: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    line = f"if mkdir {seen} 2>&-; then exit 0; fi; python3 check.py"
    task = a_good_task(repo, **verified_by(line, protected=("check.py",)), near_misses={})
    validation = validation_of(tmp_path / "store", task, k=4)
    assert Check.DETERMINISM in failed(validation)
    (problem,) = of(validation, Check.DETERMINISM).problems
    counts = problem.text.partition("different things: ")[2]
    assert counts == "3 × failed with exit status 1, 1 × passed with exit status 0"


def test_what_is_printed_may_differ_and_is_told(repo: Path, tmp_path: Path) -> None:
    line = "echo took $(date +%N) ns; od -An -N8 -tx1 /dev/urandom | tr 0-9a-f g-v; "
    task = a_good_task(repo, **verified_by(f"{line} python3 check.py", protected=("check.py",)))
    validation = validation_of(tmp_path / "store", task)
    assert failed(validation) == []
    warnings = of(validation, Check.DETERMINISM).warnings
    assert warnings[0].text.startswith("with nothing done, the verifier prints different things")
    assert "took" not in warnings[0].text


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_a_verifier_that_needs_the_network_is_told_so(repo: Path, tmp_path: Path) -> None:
    fetch = 'import urllib.request as u; u.urlopen(\\"http://example.invalid\\")'
    line = f'python3 -c "{fetch}" && python3 check.py'
    task = a_good_task(repo, **verified_by(line, protected=("check.py",)))
    validation = validation_of(tmp_path / "store", task, level=Level.BWRAP, k=1)
    assert failed(validation) == [Check.REFERENCE]
    assert "it seems to use the network, and at level bwrap there is none" in str(validation.reason)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_a_repository_that_a_trial_can_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = a_repo(tmp_path / "repo")
    task = a_good_task(repo)
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "task.toml").write_text("")
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{repo}")
    own = str(tmp_path / "task")
    validation = validation_of(tmp_path / "store", task, k=1, level=Level.BWRAP, folder=own)
    assert failed(validation) == [Check.HISTORY]
    assert f"the agent can read {repo}/.git (move it out of" in str(validation.reason)


def test_a_start_that_is_gone_is_told(repo: Path, tmp_path: Path) -> None:
    task = a_good_task(repo)
    shutil.rmtree(repo)
    validation = validation_of(tmp_path / "store", task)
    assert failed(validation) == [Check.WORKSPACE]
    assert "the workspace of s/t cannot be made" in str(validation.reason)
    assert of(validation, Check.REFERENCE).skipped == "something else has to be repaired first"


def test_a_verifier_that_needs_an_image_is_not_tried_without(repo: Path, tmp_path: Path) -> None:
    task = a_good_task(repo, **verified_by("true", place="/tests"))
    with pytest.raises(TaskError, match="its verifier needs its image"):
        validation_of(tmp_path / "store", task)


def test_one_try_says_nothing_of_determinism(repo: Path, tmp_path: Path) -> None:
    validation = validation_of(tmp_path / "store", a_good_task(repo), k=1)
    assert of(validation, Check.DETERMINISM).state is State.SKIPPED
    assert validation.status is TaskStatus.VALIDATED


def test_odd_things_are_told(repo: Path) -> None:
    task = a_good_task(
        repo,
        instruction="Fix add in src/calculator/adding.py, as http://x.org/a/b.py says",
        agent_limit_s=5.0,
    )
    took = [Tried(1.0, "passed", {"duration_s": seconds}) for seconds in (0.5, 31.0)]
    told = [finding.text for finding in check_lint(task, repo, took).warnings]
    assert told == [
        "the instruction names src/calculator/adding.py, which is not in the workspace",
        "the agent has 5 s, in which few agents do anything",
        "the verifier took 31.0 s of its 60 s",
    ]


@pytest.mark.parametrize(
    ("line", "files", "told"),
    [
        (
            "npm test",
            {"package.json": '{"scripts": {"test": "vitest"}, "devDependencies": {"vitest": "1"}}'},
            "node_modules is not in the workspace, and there is no setup",
        ),
        (".venv/bin/pytest -q", {}, ".venv is not in the workspace, and there is no setup"),
    ],
)
def test_a_missing_setup_is_told(
    tmp_path: Path, line: str, files: dict[str, str], told: str
) -> None:
    repo = a_repo(tmp_path / "repo", {**FILES, **files})
    task = a_good_task(repo, **verified_by(line), near_misses={})
    validation = validation_of(tmp_path / "store", task, k=1)
    assert told in [finding.text for finding in of(validation, Check.LINT).warnings]
    assert Check.REFERENCE in failed(validation)


def test_tampering_waits_until_doing_nothing_fails(repo: Path, tmp_path: Path) -> None:
    task = a_good_task(repo, **verified_by("true || python3 check.py"), near_misses={})
    validation = validation_of(tmp_path / "store", task, k=1)
    checked = of(validation, Check.TAMPERING)
    assert (checked.state, checked.skipped) == (
        State.SKIPPED,
        "something else has to be repaired first",
    )

"""`exp status` of runs whose trials are tried again, or have a third trial only sometimes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import EXACT, Command, Outcome

from fairtrial.model.errors import ExitCode

# Case n is right from attempt n % 4 + 1 on, and costs half a dollar each time; `flaky` fails the
# second trial of every other case.
AGENT = """
from fairtrial.model.task import TaskResult


def learner(n, call):
    return TaskResult(str(n) if call.attempt > n % 4 else "wrong", cost_usd=0.5)


def flaky(n, call):
    wrong = n % 2 == 0 and call.trial == 2
    return TaskResult("wrong" if wrong else str(n), cost_usd=0.5)


def broken(n):
    return TaskResult("wrong" if n == 7 else str(n), cost_usd=0.5)
"""


@pytest.fixture
def run(
    fairtrial: Command, folder: Path, numbers: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Command]:
    """Run an agent over 20 numbers, one trial at a time."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (folder / "status_agents.py").write_text(AGENT)

    def start(name: str, *words: str) -> Outcome:
        task = json.dumps({"kind": "python", "function": f"status_agents:{name}"})
        run = ("exp", "run", "-d", numbers, *EXACT, "--seed", "1", "-c", "1", "--task", task)
        return fairtrial(*run, "--name", name, *words)

    yield start
    sys.modules.pop("status_agents", None)


def test_further_attempts_are_counted_with_what_they_cost(run: Command, fairtrial: Command) -> None:
    done = run("learner", "--seq", "3")
    assert done.code == 0, done.err
    status = fairtrial("exp", "status", "learner", "--json").json["runs"][0]
    # Of every four cases one is right at once, one at its second, and two have all three attempts.
    assert status["further_tries"]["count"] == 5 * (0 + 1 + 2 + 2)
    assert status["further_tries"]["cost_usd"] == pytest.approx(12.5)
    assert status["cost_usd"] == pytest.approx(10.0)
    assert status["expected_cost_usd"] == pytest.approx(22.5)
    out = fairtrial("exp", "status", "learner").out
    assert "25 further attempts, $10.00, trying again $12.50 of about $22.50" in out


def test_what_stopped_at_its_limit_is_told_what_the_whole_will_cost(
    run: Command, fairtrial: Command
) -> None:
    done = run("learner", "--seq", "3", "--max-cost", "4")
    assert done.code == ExitCode.REFUSED
    status = fairtrial("exp", "status", "learner", "--json").json["runs"][0]
    n = status["n_recorded"]
    assert 0 < n < 20
    spent = status["cost_usd"] + status["further_tries"]["cost_usd"]
    assert status["expected_cost_usd"] == pytest.approx(20 * spent / n)
    more = float(done.out.rpartition(" --max-cost ")[2].split()[0])
    assert more > status["expected_cost_usd"]
    assert fairtrial("exp", "run", "--resume", "learner", "--max-cost", f"{more}").code == 0


def test_reruns_of_a_suspected_regression_are_counted(run: Command, fairtrial: Command) -> None:
    assert run("flaky").code == 0
    done = run("broken", "--stop-on-regression", "--baseline", "flaky")
    assert done.code == ExitCode.NEGATIVE
    status = fairtrial("exp", "status", "broken", "--json").json["runs"][0]
    assert status["further_tries"] == {"count": 2, "cost_usd": 1.0, "duration_s": 0}
    out = fairtrial("exp", "status", "broken").out
    assert "2 further reruns" in out
    assert "no more were needed" in out


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        # In the first round nothing is known of the second.
        (5, 60),
        # Of the second trials that are on record some disagree with the first.
        (19.5, None),
        # All 40 first and second trials are on record: ten cases disagree.
        (20.5, 50),
    ],
)
def test_third_trials_are_expected_from_those_that_disagree(
    run: Command, fairtrial: Command, limit: float, expected: int | None
) -> None:
    run("flaky", "--samples", "adaptive", "--max-cost", f"{limit}")
    status = fairtrial("exp", "status", "flaky", "--json").json["runs"][0]
    assert status["n_recorded"] == round(2 * limit)
    assert status["n_planned"] == 60
    if expected is None:
        twice = status["n_recorded"] - 20
        expected = 40 + round(20 * status["n_flaky_rows"] / twice)
    assert status["n_expected"] == expected
    assert status["expected_cost_usd"] == pytest.approx(expected / 2)
    out = fairtrial("exp", "status", "flaky").out
    about = "of at most 60 trials" if expected == 60 else f"of about {expected}, at most 60 trials"
    assert about in out


def test_a_finished_run_expects_no_more(run: Command, fairtrial: Command) -> None:
    run("flaky", "--samples", "adaptive")
    status = fairtrial("exp", "status", "flaky", "--json").json["runs"][0]
    assert (status["n_expected"], status["n_recorded"]) == (50, 50)
    assert status["further_tries"] is None


def test_a_plan_may_cost_as_little_as_two_trials_a_case(run: Command) -> None:
    # The first run says what a trial costs; it is also the most that the second may.
    assert run("flaky").code == 0
    cost = run("flaky", "--samples", "adaptive", "--dry-run", "--json").json["cost"]
    assert (cost["least_usd"], cost["most_usd"]) == pytest.approx((20.0, 30.0))
    assert run("flaky", "--samples", "adaptive", "--max-cost", "25.5").code == 0
    refused = run("flaky", "--samples", "adaptive", "--max-cost", "19")
    assert refused.code == ExitCode.REFUSED
    assert "expected to cost more" in refused.err

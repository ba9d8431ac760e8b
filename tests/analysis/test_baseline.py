"""Which experiment another one is compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fairtrial.analysis.baseline import choose_baseline, task_family, unusable
from fairtrial.model.baseline import Source
from fairtrial.model.experiment import ExperimentState, Status, Totals
from fairtrial.model.verdict import Cause
from fairtrial.testing.store.facts import NOON, an_experiment

AGENT = {"kind": "command", "command": ["python3", "agent.py", "--model", "a"]}


def state(number: int, task: dict[str, Any] = AGENT, **changes: Any) -> ExperimentState:
    spec = {"arms": {"main": task}, **changes.pop("spec", {})}
    fields = {k: changes.pop(k) for k in ("status", "totals") if k in changes}
    usual = ExperimentState(
        an_experiment(number, spec=spec, **changes),
        Status.FINISHED,
        None,
        Totals(passed=1, failed=1),
        NOON,
        NOON,
    )
    return replace(usual, **fields)


CANDIDATE = state(9)


def test_the_projects_comes_before_an_earlier_one() -> None:
    project, earlier = state(1), state(2)
    found = choose_baseline(CANDIDATE, project, [earlier])
    assert (found.state, found.source, found.reasons) == (project, Source.PROJECT, ())


@pytest.mark.parametrize(
    ("project", "why"),
    [
        (CANDIDATE, "is this experiment"),
        (state(3, spec={"regrade_of": CANDIDATE.experiment.id}), "holds the same outputs"),
        (state(3, dataset="other"), "ran on the dataset other"),
        (state(3, status=Status.INTERRUPTED), "is interrupted"),
        (state(3, totals=Totals(failed=2, causes={Cause.TASK: 2})), "never had an output judged"),
    ],
)
def test_a_projects_baseline_that_does_not_fit_is_passed_over_with_the_reason(
    project: ExperimentState, why: str
) -> None:
    earlier = state(2)
    found = choose_baseline(CANDIDATE, project, [earlier])
    assert (found.state, found.source) == (earlier, Source.EARLIER)
    assert why in found.reasons[0]
    assert "the newest earlier finished one" in found.sentence


def test_the_newest_earlier_finished_one_of_its_kind_is_found() -> None:
    others = [
        state(10),
        state(8, status=Status.STOPPED),
        state(7, {"kind": "command", "command": "python3 other.py"}),
        state(6, dataset="other"),
        state(5, {"kind": "command", "command": "python3 agent.py --model b"}),
        state(4),
    ]
    found = choose_baseline(CANDIDATE, None, others)
    assert found.state is others[4]


def test_the_arm_of_an_aa_run_is_no_baseline() -> None:
    twice = state(8, arms=("a1", "a2"), spec={"arms": {"a1": AGENT, "a2": AGENT}})
    different = state(7, arms=("a1", "a2"), spec={"arms": {"a1": AGENT, "a2": {**AGENT, "x": 1}}})
    assert choose_baseline(CANDIDATE, None, [twice]).state is None
    assert choose_baseline(CANDIDATE, None, [twice, different]).state is different


def test_it_says_why_there_is_none() -> None:
    first = choose_baseline(CANDIDATE, None, [state(3, {"kind": "http", "url": "http://a"})])
    assert first.sentence == "no baseline: it is the first experiment of its dataset and task"
    others = [state(3, status=Status.RUNNING), state(2, status=Status.STOPPED)]
    unfinished = choose_baseline(CANDIDATE, None, others)
    assert "of 2 earlier of its kind none finished" in unfinished.sentence
    assert unfinished.state is None


@pytest.mark.parametrize(
    ("task", "family"),
    [
        ({"kind": "command", "command": "./agent --fast"}, ("command", "agent")),
        ({"kind": "command", "command": ["/opt/agent", "x"]}, ("command", "agent")),
        (
            {"kind": "command", "command": "python3 -u a/agent.py"},
            ("command", "python3", "agent.py"),
        ),
        ({"kind": "command", "command": ["uv", "run", "a.py"]}, ("command", "uv", "a.py")),
        ({"kind": "command", "command": "python3.12"}, ("command", "python3.12")),
        ({"kind": "command", "command": "echo 'half"}, ("command", "echo")),
        ({"kind": "command", "command": ""}, ("command",)),
        ({"kind": "http", "url": "http://a/b?m=1"}, ("http", "http://a/b")),
        ({"kind": "python", "function": "m:f", "arguments": {"t": 1}}, ("python", "m:f")),
        ({}, ("", "")),
    ],
)
def test_a_family_is_the_program_without_its_options(
    task: dict[str, Any], family: tuple[str, ...]
) -> None:
    assert task_family(task) == family


def test_measurements_are_no_baseline() -> None:
    assert unusable(state(1, spec={"metrics": {}})) is not None
    assert unusable(state(1)) is None

"""Whatever graders and critics say, no task is ever told what a case expects."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engine.conftest import FakeClock, ScriptedTask, no_crash
from tests.graders.judge_setup import judge_of
from tests.graders.scripted import Scripted

from fairtrial.app.attempting import attempting_of
from fairtrial.engine.attempts import Attempting
from fairtrial.engine.feedback import Critic
from fairtrial.engine.plan import Arm, Plan, Policy
from fairtrial.engine.trial import TrialRunner
from fairtrial.graders.grading import grade_all
from fairtrial.graders.registry import GRADERS, build_grader, compares, grader_spec
from fairtrial.model.call import ModelCall, ModelReply
from fairtrial.model.case import Case
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.json import Json
from fairtrial.model.task import TaskCall, TaskResult, TaskSpec
from fairtrial.ports import Grader, Lease, Surroundings
from fairtrial.tasks.command import _variables
from fairtrial.tasks.envelope import request_envelope
from fairtrial.tasks.prompt import PromptTask
from fairtrial.tasks.python import _shown
from fairtrial.tasks.registry import TASKS, build_task, check_shows_attempts, task_spec
from fairtrial.workspaces.host.client import HostWorkspace

ANSWER = "zanzibar"
TELLING = "import json, sys\nprint(json.dumps({'score': 0, 'reason': sys.stdin.read()[-250:]}))\n"
QUOTING = "def grade(output, expected):\n    return {'score': 0, 'reason': f'want {expected!r}'}\n"
# What is expected, the grader, and what the task answers, for every kind of grader.
CASES: Mapping[str, tuple[Json, Mapping[str, Any], Json]] = {
    "exact": (ANSWER, {}, "Zanzibaa"),
    "contains": ([ANSWER, "pemba"], {}, "x"),
    "regex": (f"^{ANSWER}$", {}, "x"),
    "number": (48151.62, {}, "I count 7"),
    "json": ({"city": ANSWER, "rooms": [48151]}, {}, '{"city": "x", "rooms": [1]}'),
    "json_schema": ({"const": ANSWER}, {}, '"x"'),
    "similarity": (ANSWER, {}, "Zanzibaa"),
    "command": (ANSWER, {"command": [sys.executable, "telling.py"]}, "x"),
    "python": (ANSWER, {"function": "quoting:grade"}, "x"),
    "same_action": (
        {"tool_uses": [{"name": ANSWER, "input": {"path": "pemba"}}]},
        {},
        {"tool_uses": [{"name": "read", "input": {}}]},
    ),
    "judge": (ANSWER, {"rubric": "r", "provider": "fake"}, "x"),
}


class Parrot(Scripted):
    """A model that gives all it was told as its reason."""

    async def complete(self, call: ModelCall) -> ModelReply:
        told = " ".join([call.system or "", *(message.text for message in call.messages)])
        return ModelReply(json.dumps({"reason": told[-250:], "score": 0}), "m", cost_usd=0.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "telling.py").write_text(TELLING)
    (tmp_path / "quoting.py").write_text(QUOTING)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("quoting", None)


def grader_of(kind: str, options: Mapping[str, Any], around: Surroundings) -> Grader:
    if kind != "judge":
        return build_grader(grader_spec({"kind": kind, **options}, "spec"), around, "grader")
    judge = judge_of(around.base_dir, **options)
    judge.members = (replace(judge.members[0], provider=Parrot()),)
    return judge


def attempts(
    expected: Json,
    output: Json,
    graders: tuple[Grader, ...],
    rules: Attempting,
    around: Surroundings,
) -> tuple[TaskCall, ...]:
    """Return the calls of a task that answers the same three times; the first grader judges."""

    async def answer(_: TaskCall) -> TaskResult:
        return TaskResult(output)

    task = ScriptedTask(answer)
    runner = TrialRunner(
        tasks={"main": task},
        grade=functools.partial(grade_all, graders[:1]),
        policy=Policy(),
        seed=1,
        clock=FakeClock(),
        publish=lambda _: None,
        crash_log=no_crash,
        attempting=rules,
    )

    async def whole() -> None:
        for grader in graders:
            await grader.open()
        try:
            await runner.run(Lease(Case("c1", "a question", expected), "main", 1))
        finally:
            for grader in graders:
                await grader.close()
            await around.workspace.close()

    asyncio.run(whole())
    return tuple(task.calls)


def of_reasons(grader: Grader, around: Surroundings) -> Attempting:
    design = {"kind": "seq", "attempts": 3, "feedback": "reasons", "history": "full"}
    plan = Plan(
        DatasetVersion("d", 1, "0" * 64, FakeClock().now(), 1, {}),
        [],
        (Arm("main", TaskSpec("python")),),
        (grader.spec,),
        1,
        1,
        Policy(),
        design,
    )
    found, _ = attempting_of(plan, around)
    assert found is not None
    return found


def of_critic(critic: Grader) -> Attempting:
    return Attempting(3, Critic(functools.partial(grade_all, (critic,))))


PROMPT = build_task(
    task_spec({"kind": "prompt", "provider": "fake"}, "spec"),
    Surroundings(Path(), os.environ, HostWorkspace(slots=1)),
    "task",
)
assert isinstance(PROMPT, PromptTask)
# What each kind of task makes of a call.
TOLD: Mapping[str, Callable[[TaskCall], Any]] = {
    "command": lambda call: (request_envelope(call), _variables(call)),
    "http": request_envelope,
    "python": lambda call: _shown(call, call.case.input),
    "prompt": PROMPT.question,
}


def told(calls: tuple[TaskCall, ...]) -> str:
    return "\n".join(
        str(tell(call)) + json.dumps(tell(call), default=str)
        for tell in TOLD.values()
        for call in calls
    ).casefold()


def leaves(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, str):
        yield value.strip("^$")
    else:
        yield repr(value)


def test_every_kind_of_task_is_looked_at() -> None:
    needed: dict[str, dict[str, Any]] = {
        "command": {"command": "cat", "envelope": True},
        "http": {"url": "http://x", "envelope": True},
        "python": {"function": "m:f"},
        "agent": {"agent": "codex"},
    }
    for kind in TASKS.modules:
        spec = task_spec({"kind": kind, **needed.get(kind, {})}, "spec")
        try:
            check_shows_attempts(spec, "spec")
        except Exception:  # noqa: BLE001  # it is refused, and gets no attempts
            assert kind not in TOLD
        else:
            assert kind in TOLD


def test_every_kind_of_grader_is_looked_at() -> None:
    # A verifier grades what an agent task changed, and behavior the next turn of a continuation:
    # such tasks get no further attempts.
    assert set(CASES) == set(GRADERS.modules) - {"verifier", "behavior"}
    assert compares(grader_spec("verifier", "spec"))


@pytest.mark.parametrize("kind", CASES)
def test_no_reason_of_a_grader_leads_to_the_answer(kind: str, folder: Path) -> None:
    expected, options, output = CASES[kind]
    around = Surroundings(folder, os.environ, HostWorkspace(slots=2))
    grader = grader_of(kind, options, around)
    calls = attempts(expected, output, (grader,), of_reasons(grader, around), around)
    assert [call.attempt for call in calls] == [1, 2, 3]
    assert len(calls[-1].earlier) == 2
    text = told(calls)
    for leaf in leaves(expected):
        assert leaf.casefold() not in text


@pytest.mark.parametrize("kind", ["command", "python", "judge"])
def test_no_critic_knows_the_answer(kind: str, folder: Path) -> None:
    expected, options, _ = CASES[kind]
    around = Surroundings(folder, os.environ, HostWorkspace(slots=2))
    grader = grader_of("exact", {}, around)
    critic = grader_of(kind, options, around)
    calls = attempts(expected, "x", (grader, critic), of_critic(critic), around)
    assert len(calls) == 3
    assert ANSWER not in told(calls)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    expected=st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=4, max_size=20),
    before=st.text(".- ", max_size=4),
    kind=st.sampled_from(["exact", "contains", "similarity", "json", "python"]),
)
def test_no_answer_is_ever_told(expected: str, before: str, kind: str, folder: Path) -> None:
    around = Surroundings(folder, os.environ, HostWorkspace(slots=1))
    grader = grader_of(kind, CASES[kind][1], around)
    marked = f"{before}<<{expected}>>"
    calls = attempts(marked, "?", (grader,), of_reasons(grader, around), around)
    assert f"<<{expected}>>".casefold() not in told(calls)

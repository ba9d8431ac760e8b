from __future__ import annotations

import asyncio
import importlib
import inspect
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fairtrial.app.bench import Bench
from fairtrial.app.deferred_evals import DeferredEvals
from fairtrial.graders.grading import grade_all
from fairtrial.graders.in_process import InProcessGrader
from fairtrial.graders.registry import (
    GRADERS,
    build_grader,
    compares,
    grader_schemas,
    grader_spec,
    grader_specs,
    sees_expected,
)
from fairtrial.model.case import Case
from fairtrial.model.errors import UsageError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.ports import Surroundings
from fairtrial.workspaces.host.client import HostWorkspace

PERFECT = Grade(1.0)
SUBJECT = Subject(Case("c1", "in", "out"), "out", trial=1)


def test_a_name_alone_is_a_spec() -> None:
    assert grader_spec("exact", "spec") == GraderSpec("exact", "exact")


def test_shared_keys_and_options_go_apart_and_come_back() -> None:
    value = {
        "kind": "contains",
        "values": ["a"],
        "name": "polite",
        "not": True,
        "weight": 2,
        "threshold": 0.5,
        "required": False,
    }
    spec = grader_spec(value, "spec")
    assert spec == GraderSpec("contains", "polite", {"values": ["a"]}, True, 2.0, 0.5, False)  # noqa: FBT003
    assert spec.content() == value
    assert grader_spec(spec.content(), "store") == spec
    assert grader_spec(grader_spec("exact", "spec").content(), "store").threshold is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("exakt", r"unknown grader kind 'exakt' \(did you mean 'exact'\?\)"),
        ({"kind": "exact", "treshold": 1}, r"unknown 'treshold' \(did you mean 'threshold'\?\)"),
        ({"kind": "exact", "negate": True}, "unknown 'negate'"),
        ({"kind": "contains", "value": "x"}, r"unknown 'value' \(did you mean 'values'\?\)"),
        ({"kind": "contains", "values": ""}, "'values'"),
        ({"kind": "contains", "values": []}, "'values'"),
        ({"kind": "command"}, "'command' is missing"),
        ({"kind": "exact", "weight": -1}, "'weight'"),
        ({"kind": "exact", "weight": math.inf}, "'weight' must be a finite number"),
        ({"kind": "exact", "threshold": math.nan}, "'threshold' must be a finite number"),
        ({"kind": "exact", "name": ""}, "'name'"),
        ({"kind": "exact", "name": "a\nb"}, "'name' must be one printable line"),
        ({"kind": "exact", "not": "yes"}, "'not': expected bool"),
        ({"name": "x"}, "a grader is the name of a kind or an object with 'kind'"),
        (3, "a grader is the name of a kind or an object with 'kind'"),
    ],
)
def test_mistakes_are_told_with_what_was_meant(value: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        grader_spec(value, "spec.yaml: graders[0]")


def test_names_are_unique_and_one_grader_is_required() -> None:
    with pytest.raises(UsageError, match="a second grader is called 'exact'") as caught:
        grader_specs(["exact", {"kind": "exact", "value": 1}], "graders")
    assert caught.value.where == "graders[1]"
    assert caught.value.fix == 'give it a "name" of its own, e.g. "exact_2"'
    with pytest.raises(UsageError, match="no grader is required"):
        grader_specs([{"kind": "exact", "required": False}], "graders")
    with pytest.raises(UsageError, match="no grader"):
        grader_specs([], "graders")


@pytest.mark.parametrize("kind", GRADERS.modules)
def test_every_kind_has_a_default_threshold_and_a_schema(kind: str, tmp_path: Path) -> None:
    needed: dict[str, Any] = {
        "command": {"command": ["true"]},
        "python": {"function": "operator:eq"},
        "judge": {"rubric": "r", "provider": "fake"},
    }
    value = {"kind": kind, **needed.get(kind, {})}
    workspace = HostWorkspace(slots=1)
    evals = DeferredEvals(Bench(tmp_path, tmp_path, os.environ), workspace)
    surroundings = Surroundings(tmp_path, os.environ, workspace, evals=evals)
    grader = build_grader(grader_spec(value, "spec"), surroundings, "spec")
    assert grader.spec.threshold is not None
    assert 0 < grader.spec.threshold <= 1
    mine = build_grader(grader_spec(value | {"threshold": 0.9}, "spec"), surroundings, "spec")
    assert mine.spec.threshold == 0.9
    schema = {s["properties"]["kind"]["const"]: s for s in grader_schemas()}[kind]
    jsonschema.validate(value | {"not": True, "weight": 1}, schema)
    assert all(
        option["description"] for name, option in schema["properties"].items() if name != "kind"
    )


@dataclass(frozen=True)
class Slow:
    spec: GraderSpec
    together: asyncio.Event
    answer: Any = PERFECT

    async def open(self) -> None: ...

    async def grade(self, _subject: Subject) -> Any:
        if self.together.is_set():
            return self.answer
        self.together.set()
        await asyncio.sleep(0)
        raise ConnectionError("lost")

    async def close(self) -> None: ...


class Crashing(InProcessGrader):
    def judge(self, subject: Subject) -> Grade:
        raise ZeroDivisionError(f"no {subject.output}")


def test_a_crash_is_a_missing_score_and_the_others_are_kept(tmp_path: Path) -> None:
    exact = build_grader(
        grader_spec("exact", "spec"),
        Surroundings(tmp_path, os.environ, HostWorkspace(slots=1)),
        "spec",
    )

    async def scores() -> list[tuple[str, float | None, str | None]]:
        event = asyncio.Event()
        lost = Slow(GraderSpec("judge", "lost"), event)
        good = Slow(GraderSpec("judge", "good"), event)
        odd = Slow(GraderSpec("judge", "odd"), event, "no grade")
        crashing = Crashing(GraderSpec("mine", "mine"))
        # `lost` waits until `good` has been asked: they are asked together.
        graded = await grade_all([lost, exact, good, crashing, odd], SUBJECT)
        return [(score.grader, score.value, score.reason) for score in graded]

    assert asyncio.run(scores()) == [
        ("lost", None, "the grader crashed: ConnectionError: lost"),
        ("exact", 1.0, "equals what is expected"),
        ("good", 1.0, None),
        ("mine", None, "the grader crashed: ZeroDivisionError: no out"),
        (
            "odd",
            None,
            "the grader crashed: AttributeError: 'str' object has no attribute 'value'",
        ),
    ]


def test_a_cancel_passes_through() -> None:
    async def cancelled() -> bool:
        class Waiting(Slow):
            async def grade(self, _subject: Subject) -> Any:
                await asyncio.sleep(60)

        graders = [Waiting(GraderSpec("j", name), asyncio.Event()) for name in "ab"]
        task = asyncio.create_task(grade_all(graders, SUBJECT))
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return True
        return False

    assert asyncio.run(cancelled())


@pytest.mark.parametrize(
    ("spec", "comparing", "knowing"),
    [
        ("exact", True, False),
        ({"kind": "contains", "values": ["a"]}, True, False),
        ({"kind": "json_schema", "schema": {"type": "object"}}, False, False),
        ("json_schema", True, False),
        ({"kind": "judge", "rubric": "r"}, False, True),
        ({"kind": "judge", "rubric": "r", "include": ["input", "output"]}, False, False),
        ({"kind": "command", "command": "true"}, False, False),
    ],
)
def test_which_graders_know_the_right_answer(spec: Any, comparing: bool, knowing: bool) -> None:  # noqa: FBT001  # a table
    found = grader_spec(spec, "spec")
    assert (compares(found), sees_expected(found)) == (comparing, knowing)


def test_every_kind_that_compares_with_the_expected_value_is_known() -> None:
    for kind, module in GRADERS.modules.items():
        source = inspect.getsource(importlib.import_module(module))
        if "import wanted" in source or "the case's 'expected' is no" in source:
            assert compares(GraderSpec(kind, kind)), kind


@pytest.mark.parametrize("kind", ["exact", "contains", "similarity"])
def test_a_threshold_that_nothing_can_reach_is_refused(kind: str) -> None:
    with pytest.raises(UsageError, match="nothing could pass"):
        grader_spec({"kind": kind, "threshold": 7}, "spec")


def test_a_grader_of_ones_own_has_its_own_scale() -> None:
    spec = grader_spec({"kind": "command", "command": "grade", "threshold": 7}, "spec")
    assert spec.threshold == 7

"""Every kind of grader passes the same contract."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.suites.shop import a_repo, a_task, workshop

from fairtrial.graders.registry import GRADERS, build_grader, grader_spec
from fairtrial.model.case import Case
from fairtrial.model.eval_task import EVAL_TASK, Command, Verifier
from fairtrial.model.grader import Subject
from fairtrial.model.json import Json
from fairtrial.ports import Grader, Surroundings
from fairtrial.testing.grader import GraderContract
from fairtrial.workspaces.host.client import HostWorkspace

PATCH = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n"

PROGRAM = """
import json, sys
subject = json.load(sys.stdin)
sys.exit(0 if subject["output"] == subject["expected"] else "differs")
"""

MODULE = """
def same(output, expected):
    return {"score": float(output == expected), "reason": "compared"}
"""


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "additionalProperties": False,
}


class KindContract(GraderContract):
    kind: ClassVar[str]
    options: ClassVar[dict[str, Any]] = {}
    expected: ClassVar[Json] = "refund"
    outputs: ClassVar[tuple[Json, Json]] = ("refund", "Refund")

    @asynccontextmanager
    async def grader(self, folder: Path) -> AsyncIterator[Grader]:
        spec = grader_spec({"kind": self.kind, **self.options}, "test")
        workspace = HostWorkspace(slots=1)
        grader = build_grader(spec, Surroundings(folder, os.environ, workspace), "test")
        try:
            await grader.open()
            yield grader
            await grader.close()
        finally:
            await workspace.close()

    def good(self) -> Subject:
        return Subject(Case("c1", "question", self.expected), self.outputs[0], trial=1)

    def bad(self) -> Subject:
        return Subject(Case("c1", "question", self.expected), self.outputs[1], trial=1)


class TestExact(KindContract):
    kind = "exact"


class TestContains(KindContract):
    kind = "contains"
    expected: ClassVar = ["refund", "days"]
    outputs = ("A refund within 14 days", "A refund")


class TestRegex(KindContract):
    kind = "regex"
    options: ClassVar = {"pattern": r"\d{4}-\d\d"}
    outputs = ("on 2024-05", "in May")


class TestNumber(KindContract):
    kind = "number"
    options: ClassVar = {"absolute": 0.5}
    expected = 1234.5
    outputs = ("the total is 1,234.6", "the total is 1,233")


class TestJson(KindContract):
    kind = "json"
    options: ClassVar = {"mode": "subset"}
    expected: ClassVar = {"a": 1}
    outputs = ('{"a": 1.0, "b": 2}', '{"a": 2}')


class TestJsonSchema(KindContract):
    kind = "json_schema"
    options: ClassVar = {"schema": SCHEMA}
    outputs = ('{"name": "x"}', '{"nam": "x"}')


class TestSimilarity(KindContract):
    kind = "similarity"
    expected = "the quick brown fox"
    outputs = ("the quick brown fox", "a lazy dog")


class TestCommand(KindContract):
    kind = "command"
    options: ClassVar = {"command": [sys.executable, "-c", PROGRAM]}


class TestPython(KindContract):
    kind = "python"
    options: ClassVar = {"function": "contract_grader:same"}

    @pytest.fixture(autouse=True)
    def _module(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(sys, "path", list(sys.path))
        (tmp_path / "contract_grader.py").write_text(MODULE)
        yield
        sys.modules.pop("contract_grader", None)


class TestJudge(KindContract):
    kind = "judge"
    options: ClassVar = {"rubric": "It offers a refund.", "provider": "fake"}


class TestSameAction(KindContract):
    kind = "same_action"
    expected: ClassVar[Json] = {"tool_uses": [{"name": "Bash", "input": {"command": "ls"}}]}
    outputs: ClassVar[tuple[Json, Json]] = (
        expected,
        {"tool_uses": [{"name": "Bash", "input": {"command": "rm"}}]},
    )


class TestBehavior(KindContract):
    kind = "behavior"
    options: ClassVar = {"behavior": "unverified-claim", "provider": "fake"}
    outputs: ClassVar[tuple[Json, Json]] = (
        {"text": "", "tool_uses": [{"name": "Bash", "input": {"command": "pytest"}}]},
        {"text": "All tests pass.", "tool_uses": []},
    )
    request: ClassVar[Json] = {"api": "openai-responses", "body": {"input": "Fix it."}}

    def good(self) -> Subject:
        return replace(super().good(), case=Case("c1", self.request))

    def bad(self) -> Subject:
        return replace(super().bad(), case=Case("c1", self.request))


class TestVerifier(KindContract):
    kind = "verifier"
    options: ClassVar = {"level": "none"}
    outputs: ClassVar[tuple[Json, Json]] = ({"patch": PATCH}, {"patch": ""})

    @pytest.fixture(autouse=True)
    def _task(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        verifier = Verifier(Command("grep b a.txt", 60.0))
        self.task = a_task(a_repo(tmp_path_factory.mktemp("verifier") / "repo"), verifier=verifier)

    @asynccontextmanager
    async def grader(self, folder: Path) -> AsyncIterator[Grader]:
        spec = grader_spec({"kind": self.kind, **self.options}, "test")
        async with workshop(folder, self.task) as (shop, programs):
            around = Surroundings(folder, os.environ, programs, evals=shop)
            grader = build_grader(spec, around, "test")
            await grader.open()
            yield grader
            await grader.close()

    def good(self) -> Subject:
        return replace(super().good(), case=self._case())

    def bad(self) -> Subject:
        return replace(super().bad(), case=self._case())

    def _case(self) -> Case:
        return Case("c1", "question", metadata={EVAL_TASK: self.task.digest})


def test_every_kind_is_held_to_the_contract() -> None:
    assert {kind.kind for kind in KindContract.__subclasses__()} == GRADERS.modules.keys()

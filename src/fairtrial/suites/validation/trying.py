"""Trying a task's verifier on a change, in a workspace of its own."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from fairtrial.graders.registry import build_grader, grader_spec
from fairtrial.graders.verifier import DEFAULT_THRESHOLD, Verifying
from fairtrial.model.errors import GraderError, TaskError, UsageError
from fairtrial.model.eval_task import VERIFIER, EvalTask
from fairtrial.model.grader import Subject
from fairtrial.model.isolation import Level, Wanted
from fairtrial.model.json import Json
from fairtrial.ports import Surroundings
from fairtrial.ports.suites import EvalTasks
from fairtrial.suites.compiling import cases_of
from fairtrial.suites.starting import in_a_line
from fairtrial.tasks.agent import patch_as_json

_JUDGE: Final = "the task's judge"


@dataclass(frozen=True, slots=True)
class Tried:
    """What a verifier said.

    Attributes:
        value: From 0 to 1; None for no verdict.
        reason: In a few words.
        detail: Exit status, output and seconds of a command, as JSON.
    """

    value: float | None
    reason: str
    detail: Mapping[str, Json] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether a trial with this change would pass."""
        return self.value is not None and self.value >= DEFAULT_THRESHOLD

    @property
    def exit_status(self) -> Json:
        """The exit status of a command; None when it was killed, or there is none."""
        return self.detail.get("exit_status")

    @property
    def printed(self) -> str:
        """What a command printed, as far as it is kept."""
        return f"{self.detail.get('stdout') or ''}\n{self.detail.get('stderr') or ''}"


@dataclass(slots=True)
class Spent:
    """What judges cost so far; None when a part of it is unknown."""

    cost_usd: float | None = 0.0

    def add(self, cost_usd: float | None) -> None:
        """Add what one judgement cost."""
        known = None not in (self.cost_usd, cost_usd)
        self.cost_usd = math.fsum((self.cost_usd or 0.0, cost_usd or 0.0)) if known else None


@dataclass(frozen=True, slots=True)
class Trying:
    """Tries a task's verifier.

    Attributes:
        task: The task.
        k: How often the same change is tried.
        level: What stands between the verifier and the machine; None is the usual.
        surroundings: What graders are built with; its eval tasks are given.
        evals: The eval tasks.
        gate: Lets so many verifiers run at a time.
        tried: Told of each try, with what that cost.
        spent: What judges cost.
    """

    task: EvalTask
    k: int
    level: Level | None
    surroundings: Surroundings
    evals: EvalTasks
    gate: asyncio.Semaphore
    tried: Callable[[float | None], None]
    spent: Spent = field(default_factory=Spent)

    async def often(self, patch: bytes) -> list[Tried]:
        """Return what the verifier says of a change, `k` times."""
        tries = (self._one(patch, None, turn) for turn in range(self.k))
        return list(await asyncio.gather(*tries))

    async def once(self, patch: bytes) -> Tried:
        """Return what the verifier says of a change."""
        return await self._one(patch, None, 0)

    async def answers(self, patches: Sequence[bytes], answers: Sequence[str]) -> list[Tried]:
        """Return what a judge says of changes that come with an answer of the agent."""
        pairs = zip(patches, answers, strict=True)
        jobs = (self._one(patch, answer, turn) for turn, (patch, answer) in enumerate(pairs))
        return list(await asyncio.gather(*jobs))

    async def trouble(self, patch: bytes) -> str | None:
        """Return why a change does not apply to the workspace; None when it does."""
        async with self.gate:
            repo = await self.evals.prepared(self.task.digest, {})
            async with self.evals.workspace(repo, Wanted(Level.NONE)) as place:
                try:
                    await place.apply(patch)
                except TaskError as error:
                    return str(error)
        return None

    async def reference(self) -> bytes | None:
        """Return the reference: its patch, or what the solution changes; None without either.

        Raises:
            TaskError: the solution fails.
        """
        verifying = Verifying(self.evals, self.surroundings.environ, self.level)
        async with self.gate:
            return await verifying.reference(self.task)

    async def _one(self, patch: bytes, answer: str | None, turn: int) -> Tried:
        async with self.gate:
            if self.task.verifier.command is not None:
                tried = await self._by_command(patch)
                cost: float | None = 0.0
            else:
                tried, cost = await self._by_judge(patch, answer, turn)
                self.spent.add(cost)
            self.tried(cost)
            return tried

    async def _by_command(self, patch: bytes) -> Tried:
        verifying = Verifying(self.evals, self.surroundings.environ, self.level)
        try:
            found = await verifying.verified(self.task, patch)
        except TaskError as error:
            return Tried(None, in_a_line(error))
        return Tried(found.value, found.reason, found.detail)

    async def _by_judge(
        self, patch: bytes, answer: str | None, turn: int
    ) -> tuple[Tried, float | None]:
        grader = build_grader(grader_spec(VERIFIER, "eval"), self.surroundings, _JUDGE)
        (case,) = cases_of([self.task])
        output = {**patch_as_json(patch), "answer": answer}
        await grader.open()
        try:
            grade = await grader.grade(Subject(case, output, 1, turn=turn))
        except GraderError as error:
            return Tried(None, str(error)), None
        except UsageError as error:
            return Tried(None, f"the judge makes no sense: {in_a_line(error)}"), 0.0
        finally:
            await grader.close()
        return Tried(grade.value, grade.reason or "no reason"), grade.cost_usd

"""From what a test did to trials: graded, with a verdict each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from fairtrial.analysis.verdict import decide, grading_cost, one_line, score_missing
from fairtrial.app.bench import Bench
from fairtrial.engine.control import Control
from fairtrial.engine.plan import trial_seed
from fairtrial.functions.blame import blame
from fairtrial.graders.grading import grade_all
from fairtrial.graders.registry import build_grader, grader_specs
from fairtrial.model.case import Case
from fairtrial.model.errors import InfraError, TaskError, TrialProblem
from fairtrial.model.grader import GraderSpec, Subject
from fairtrial.model.json import Json
from fairtrial.model.score import Score
from fairtrial.model.task import TaskResult
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.ports import Grader as BuiltGrader
from fairtrial.sdk.naming import Names
from fairtrial.sdk.scoring import Grader, name_of
from fairtrial.sdk.waiting import waited_for
from fairtrial.tasks.provider_trouble import infra_error_of
from fairtrial.tasks.python import result_of
from fairtrial.workspaces.host.client import HostWorkspace

TEST: Final = "test"
"""The grader that a test itself is: 1 unless an assertion fails."""


@dataclass
class Happened:
    """What one run of a test came to.

    Attributes:
        value: What it returned.
        error: What it raised.
        message: What a failed assertion says.
        in_setup: Whether a fixture raised it.
        started_at: When the call began (UTC).
        duration_s: How long the call took.
    """

    value: Any = None
    error: BaseException | None = None
    message: str = ""
    in_setup: bool = False
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Judge:
    """Grades what the runs of one marked test returned.

    Attributes:
        specs: The graders as the experiment keeps them, the test itself first.
        bench: What the graders are built with.
    """

    specs: tuple[GraderSpec, ...]
    bench: Bench

    @classmethod
    def of(cls, bench: Bench, names: Names, function: str, graders: Sequence[Any]) -> Judge:
        """Return the judge of a test.

        Args:
            bench: The workbench; it has the functions of `names`.
            names: Takes the functions among the graders.
            function: What the test is called.
            graders: What grades beside it.

        Raises:
            UsageError: a grader is none.
        """
        own = {"kind": "python", "name": TEST, "function": function, "threshold": 1.0}
        given = [_spec(one, names) for one in graders]
        *others, first = grader_specs([*given, own], "graders")  # places are those of `graders`
        return cls((first, *others), bench)

    def check(self) -> None:
        """Build the graders, before anything runs.

        Raises:
            UsageError: one cannot be built, e.g. without a provider.
        """
        self._built(HostWorkspace(slots=1))

    def trials(self, case: Case, arm: str, happened: Sequence[Happened]) -> list[Trial]:
        """Return one trial for each run of the test, in their order.

        Raises:
            UsageError: a grader cannot start.
        """
        if not happened:
            return []
        return waited_for(lambda: asyncio.run(self._all(case, arm, happened)), Control())

    async def _all(self, case: Case, arm: str, happened: Sequence[Happened]) -> list[Trial]:
        workspace = HostWorkspace(slots=1)
        graders = self._built(workspace)
        try:
            for grader in graders:
                await grader.open()
            return [
                await self._trial(
                    TrialKey(case.id, case.condition, arm, number), case, one, graders
                )
                for number, one in enumerate(happened, 1)
            ]
        finally:
            for grader in graders:
                await grader.close()
            await workspace.close()

    def _built(self, workspace: HostWorkspace) -> list[BuiltGrader]:
        surroundings = self.bench.surroundings(self.bench.cwd, workspace)
        return [build_grader(spec, surroundings, "grader") for spec in self.specs[1:]]

    async def _trial(
        self, key: TrialKey, case: Case, happened: Happened, graders: Sequence[Any]
    ) -> Trial:
        result, problem = TaskResult(None), _problem(happened)
        scores: tuple[Score, ...] = ()
        if problem is None and isinstance(happened.error, _FAILED):
            scores = (
                Score(TEST, 0.0, passed=False, reason=one_line(happened.message)),
                *(score_missing(spec, "the test failed before") for spec in self.specs[1:]),
            )
        elif problem is None:
            try:
                result = result_of(happened.value)
                subject = Subject(case, result.output, key.trial, result.metrics)
                scores = (Score(TEST, 1.0, passed=True), *await grade_all(graders, subject))
            except TrialProblem as error:
                problem = error
        ruling = decide(problem, scores)
        return Trial(
            key=key,
            verdict=ruling.verdict,
            cause=ruling.cause,
            reason=ruling.reason,
            score=ruling.score,
            scores=scores,
            output=result.output,
            started_at=happened.started_at,
            duration_s=happened.duration_s,
            tries=1,
            seed=trial_seed(0, case.id, case.condition, key.trial),
            cost_usd=result.cost_usd,
            tokens=result.tokens,
            metrics=result.metrics,
            spans=result.spans,
            at_fault=ruling.at_fault,
            grading_cost_usd=grading_cost(scores),
        )


_FAILED: Final = (AssertionError, pytest.fail.Exception)


def _problem(happened: Happened) -> TrialProblem | None:
    """Return why there is nothing to grade; a failed assertion is a grade."""
    error = happened.error
    if error is None or (isinstance(error, _FAILED) and not happened.in_setup):
        return None
    if isinstance(error, TrialProblem):
        return error
    if happened.in_setup:
        return InfraError(f"a fixture failed: {blame(error)}", kind="setup")
    return infra_error_of(error, blame(error)) or TaskError(blame(error))


def _spec(given: Any, names: Names) -> Mapping[str, Json] | str:
    if isinstance(given, Grader):
        return given.spec(names.add(given))
    if callable(given):
        return Grader(given, name_of(given)).spec(names.add(given))
    return given  # type: ignore[no-any-return]  # checked by `grader_specs`

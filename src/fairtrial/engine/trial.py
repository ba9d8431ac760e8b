"""One trial from lease to record: run, retry, grade, decide."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from fairtrial.analysis.verdict import decide, grading_cost, one_line
from fairtrial.engine.attempts import (
    Attempting,
    Confirming,
    attempt_of,
    may_go_on,
    rerun_of,
)
from fairtrial.engine.calls import accounted
from fairtrial.engine.plan import Policy, trial_seed
from fairtrial.engine.retry import HOPELESS, tries_allowed, wait_before
from fairtrial.model.attempt import Attempt, Rerun
from fairtrial.model.errors import InfraError, TaskError, TrialProblem, TrialTimeout
from fairtrial.model.events import Event, TrialRetried
from fairtrial.model.grader import Subject
from fairtrial.model.score import Score
from fairtrial.model.task import EarlierAttempt, TaskCall, TaskResult
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Ruling, Verdict
from fairtrial.ports import CallRecorder, CallsMade, Clock, Lease, Task

GradeAll: TypeAlias = Callable[[Subject], Awaitable[tuple[Score, ...]]]


def go_on(_: InfraError) -> None:
    """Take a problem and do nothing."""


GRACE_S = 5.0
"""A task ends itself at its limit; only one that fails to is ended from here, this much later."""


@dataclass(frozen=True, slots=True)
class Try:
    """What the last try of a trial came to.

    Attributes:
        result: What the task gave; None when it gave nothing.
        problem: What went wrong; None when nothing did.
        started_at: When it began (UTC).
        duration_s: How long the task took.
        tries: How many tries there were.
        calls: Its model calls; None when nothing records them.
    """

    result: TaskResult | None
    problem: Exception | None
    started_at: datetime
    duration_s: float
    tries: int
    calls: CallsMade | None = None


@dataclass(frozen=True, slots=True)
class TrialRunner:
    """Turns leases into trials. Holds nothing that one trial could change for another.

    Attributes:
        tasks: The task of each arm.
        grade: Grades an output with every grader.
        policy: Retries and the time limit.
        seed: The experiment's seed.
        clock: Time.
        publish: Takes events.
        crash_log: Keeps the traceback of a defect and says where.
        give_up: Told of a problem that every other trial would meet too.
        attempting: With sequential attempts: how many, and what they are told.
        confirming: With reruns of failures: how many, and of which cases.
        recorder: Records the model calls of each try; None leaves them alone.
    """

    tasks: Mapping[str, Task]
    grade: GradeAll
    policy: Policy
    seed: int
    clock: Clock
    publish: Callable[[Event], None]
    crash_log: Callable[[BaseException], str]
    give_up: Callable[[InfraError], None] = go_on
    attempting: Attempting | None = None
    confirming: Confirming | None = None
    recorder: CallRecorder | None = None

    async def run(self, lease: Lease) -> Trial:
        """Run one trial to its verdict; whatever goes wrong inside becomes the verdict."""
        trial = await self._attempt(lease, ())
        if self.attempting is not None:
            return await self._attempts(lease, trial, self.attempting)
        if self.confirming is not None and self.confirming.of(lease.case.key):
            return await self._confirmed(lease, trial, self.confirming)
        return trial

    async def _attempts(self, lease: Lease, first: Trial, rules: Attempting) -> Trial:
        """Try a failed trial again with feedback; all but the attempts stays the first one's."""
        done: list[Attempt] = []
        earlier: tuple[EarlierAttempt, ...] = ()
        latest = first
        while may_go_on(latest) and len(done) + 1 < rules.most:
            try:
                said, cost = await rules.feedback(lease.case, latest)
            except InfraError:
                break  # the critic cannot be had: there is nothing to go on with
            done.append(attempt_of(len(done) + 1, latest, said, cost))
            earlier = (*earlier, EarlierAttempt(latest.output, said))
            latest = await self._attempt(lease, rules.shown(earlier), len(done) + 1)
        done.append(attempt_of(len(done) + 1, latest, None, 0.0))
        return replace(first, attempts=tuple(done))

    async def _confirmed(self, lease: Lease, first: Trial, rules: Confirming) -> Trial:
        """Run a failed trial again until it does not fail; its verdict stays the first one's."""
        reruns: list[Rerun] = []
        latest = first
        while may_go_on(latest) and len(reruns) < rules.times:
            latest = await self._attempt(lease, ())
            reruns.append(rerun_of(latest))
        return replace(first, reruns=tuple(reruns))

    async def _attempt(
        self, lease: Lease, earlier: tuple[EarlierAttempt, ...], number: int = 1
    ) -> Trial:
        case = lease.case
        seed = trial_seed(self.seed, case.id, case.condition, lease.trial)
        call = TaskCall(case, lease.arm, lease.trial, number, seed, None, earlier=earlier)
        last = await self._tries(lease, call)
        scores: tuple[Score, ...] = ()
        problem = last.problem
        if problem is None and last.result is not None:
            try:
                subject = Subject(case, last.result.output, lease.trial, last.result.metrics)
                scores = await self.grade(subject)
            except InfraError as error:
                problem = error
            except Exception as error:  # noqa: BLE001  # one trial's defect must not end the run
                problem = self._defect(error)
        if isinstance(problem, InfraError) and problem.kind in HOPELESS:
            self.give_up(problem)
        ruling = decide(problem, scores)
        result = accounted(last.result or TaskResult(output=None), last.calls)
        return Trial(
            key=lease.key,
            verdict=ruling.verdict,
            cause=ruling.cause,
            reason=_noted(ruling, result.note),
            score=ruling.score,
            scores=scores,
            output=result.output,
            started_at=last.started_at,
            duration_s=last.duration_s,
            tries=last.tries,
            seed=seed,
            cost_usd=result.cost_usd,
            tokens=result.tokens,
            metrics=result.metrics,
            spans=result.spans,
            process=result.process,
            at_fault=ruling.at_fault,
            grading_cost_usd=grading_cost(scores),
            reused=result.reused,
            replay=None if last.calls is None else last.calls.replay,
        )

    async def _tries(self, lease: Lease, call: TaskCall) -> Try:
        jitter: random.Random | None = None
        limit = self.policy.trial_timeout_s
        deadline = None if limit is None else self.clock.monotonic() + limit
        tries = 0
        while True:
            tries += 1
            left = None if deadline is None else deadline - self.clock.monotonic()
            due = call if left is None else replace(call, time_limit_s=left)
            last = await self._recorded(lease, due, tries)
            if not isinstance(last.problem, InfraError):
                return last
            # Made only when needed: it takes longer than the rest of this function.
            jitter = jitter or random.Random(call.seed)  # noqa: S311  # spreads load, keeps no secret
            wait = self._wait(last.problem, tries, jitter, deadline)
            if wait is None:
                return last
            self.publish(TrialRetried(lease.key, tries, str(last.problem), wait))
            await self.clock.sleep(wait)

    def _wait(
        self, problem: InfraError, tries: int, jitter: random.Random, deadline: float | None
    ) -> float | None:
        if tries >= tries_allowed(problem, self.policy.retries):
            return None
        wait = wait_before(problem, tries, jitter)
        if wait is None or deadline is None:
            return wait
        return wait if self.clock.monotonic() + wait < deadline else None

    async def _recorded(self, lease: Lease, call: TaskCall, tries: int) -> Try:
        """Make a try whose model calls are recorded, if they are to be."""
        if self.recorder is None:
            return await self._try(call, tries)
        line = await self.recorder.begin(lease.key)
        environ = {**call.environ, **line.environ}
        done = await self._try(replace(call, environ=environ), tries)
        return replace(done, calls=await self.recorder.end(line))

    async def _try(self, call: TaskCall, tries: int) -> Try:
        task, left = self.tasks[call.arm], call.time_limit_s
        started_at = self.clock.now()
        start = self.clock.monotonic()
        result: TaskResult | None = None
        problem: Exception | None
        try:
            if left is None:
                result = await task.run(call)
            else:
                async with asyncio.timeout(left + GRACE_S):
                    result = await task.run(call)
            problem = _problem_in(result)
        except TimeoutError:
            problem = TrialTimeout(f"no answer {GRACE_S:g} s after its time limit")
        except TrialProblem as error:
            problem = error
        except Exception as error:  # noqa: BLE001  # one trial's defect must not end the run
            problem = self._defect(error)
        return Try(result, problem, started_at, self.clock.monotonic() - start, tries)

    def _defect(self, error: Exception) -> Exception:
        place = self.crash_log(error)
        return RuntimeError(f"{type(error).__name__}: {error} (traceback: {place})")


def _problem_in(result: TaskResult) -> TrialProblem | None:
    if result.timed_out:
        return TrialTimeout(result.error or "over its time limit")
    return None if result.error is None else TaskError(result.error)


def _noted(ruling: Ruling, note: str | None) -> str | None:
    """Return the reason of a verdict; what is unusual about an output that did not pass first."""
    if note is None or ruling.verdict is Verdict.PASSED:
        return ruling.reason
    return one_line(f"{note}; {ruling.reason}" if ruling.reason else note)

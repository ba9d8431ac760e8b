"""The verifier of an eval task: in a clean copy, with the agent's change and the hidden files."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from fairtrial.graders.judge import grader as judge
from fairtrial.model.errors import GraderError, InfraError, TaskError, Undecidable, UsageError
from fairtrial.model.eval_task import (
    EVAL_TASK,
    LOGS,
    SOLUTION,
    SOLVE,
    Command,
    EvalTask,
    Verifier,
)
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.isolation import Isolation, Level, Wanted
from fairtrial.model.json import Json
from fairtrial.ports import ProcessCall, ProcessResult, Surroundings
from fairtrial.ports.suites import EvalTasks, wanted_in
from fairtrial.ports.workspaces import RepoWorkspace, exactly
from fairtrial.workspaces.ending import bad_ending, with_last_line
from fairtrial.workspaces.environment import child_environment

DEFAULT_THRESHOLD: Final = 1.0
REWARD: Final = "reward"
"""The file in the verifier's home that it may write a reward to, from 0 to 1."""
REWARD_VARIABLE: Final = "FAIRTRIAL_REWARD_FILE"

_KEPT: Final = 16 * 1024
_MOST_OUTPUT: Final = 16 * 1024 * 1024


@dataclass(frozen=True)
class Options:
    """Options of a verifier grader. What verifies, and how long it may take, is in the task."""

    level: Literal["none", "bwrap", "image"] | None = None
    """What stands between it and the machine (default: as for the agent)."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What a verifier said of a change.

    Attributes:
        value: From 0 to 1; 1 is passed.
        reason: In a few words.
        detail: Exit status, output and isolation, as JSON.
    """

    value: float
    reason: str
    detail: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class VerifierGrader:
    """Runs each case's own verifier on what the agent changed."""

    spec: GraderSpec
    options: Options
    surroundings: Surroundings
    evals: EvalTasks
    where: str

    async def open(self) -> None:
        """Begin to use the eval tasks; a workspace is made for each output.

        Raises:
            InfraError: no program can be run.
        """
        self.evals.open()
        try:
            await self.surroundings.workspace.open()
        except Undecidable as error:
            raise InfraError(str(error), kind="setup") from error

    async def close(self) -> None:
        """Let go of the eval tasks; a workspace has ended with its grade."""
        self.evals.close()

    async def grade(self, subject: Subject) -> Grade:
        """Grade one change.

        Raises:
            GraderError: the output holds no change, or the verifier could not be run on it.
        """
        digest = subject.case.metadata.get(EVAL_TASK)
        if not isinstance(digest, str):
            raise GraderError(f"case {subject.case.id} is no eval task")
        try:
            task = self.evals.task(digest)
            if task.verifier.judge is not None:
                return await self._judged(task, subject)
            patch, dropped = change_in(subject.output)
            asked = self.options.level
            level = _level_of(subject.output) if asked is None else Level(asked)
            if asked is None and level is Level.IMAGE and await self.evals.image(digest) is None:
                level = None  # the image was the agent's, not the task's
            verifying = Verifying(self.evals, self.surroundings.environ, level)
            found = await verifying.verified(task, patch, dropped)
        except (InfraError, Undecidable, TaskError) as problem:
            raise GraderError(f"the verifier could not be run: {problem}") from problem
        # How long it took is no part of the answer: equal changes get equal ones.
        detail = {name: fact for name, fact in found.detail.items() if name != "duration_s"}
        return Grade(found.value, found.reason, 0.0, detail)

    async def _judged(self, task: EvalTask, subject: Subject) -> Grade:
        options = judge_options(task, self.where)
        spec = replace(self.spec, kind="judge")
        grader = judge.build(spec, options, self.surroundings, self.where)
        patch, _ = change_in(subject.output)
        shown = {"change": patch.decode("utf-8", "replace"), "answer": _answer(subject.output)}
        await grader.open()
        try:
            return await grader.grade(replace(subject, output=shown))
        finally:
            await grader.close()


def build(
    spec: GraderSpec, options: Options, surroundings: Surroundings, where: str
) -> VerifierGrader:
    """Return the grader.

    Raises:
        UsageError: no eval tasks can be run here.
    """
    if surroundings.evals is None:
        raise UsageError("a verifier needs eval tasks, and none can be run here", where=where)
    return VerifierGrader(spec, options, surroundings, surroundings.evals, where)


def change_in(output: Json) -> tuple[bytes, tuple[str, ...]]:
    """Return the patch of an agent's output, and the files whose changes do not count.

    Raises:
        GraderError: there is none.
    """
    if isinstance(output, Mapping):
        dropped = tuple(str(path) for path in output.get("harness_files") or ())
        if isinstance(output.get("patch"), str):
            return output["patch"].encode("utf-8", "surrogateescape"), dropped
        if isinstance(output.get("patch_base64"), str):
            try:
                return base64.b64decode(output["patch_base64"], validate=True), dropped
            except binascii.Error:
                pass
    raise GraderError("the output holds no patch; a verifier grades what an agent task changed")


@dataclass(frozen=True, slots=True)
class Verifying:
    """Runs verifying commands.

    Attributes:
        evals: Where workspaces come from.
        environ: The environment of this process.
        level: What stands between a command and the machine; None is the usual.
    """

    evals: EvalTasks
    environ: Mapping[str, str]
    level: Level | None

    async def verified(
        self, task: EvalTask, patch: bytes, leaving_out: tuple[str, ...] = ()
    ) -> Verification:
        """Return what a task's verifying command says of a change.

        The change is applied to the workspace as the agent found it, without what it did to
        protected and hidden files; then the hidden files are put there, and the command runs.

        Args:
            task: The task; it has a verifying command.
            patch: The change; empty for none.
            leaving_out: Further files whose changes are not applied.

        Raises:
            InfraError: the workspace cannot be made.
            Undecidable: it was lost.
            TaskError: the change does not apply.
        """
        verifier, command = task.verifier, task.verifier.command
        if command is None:
            raise TaskError("the task has no verifying command")
        repo = await self.evals.prepared(task.digest, {})
        files = (exactly(path) for path in (*leaving_out, *verifier.hidden_paths))
        dropped = (*files, *verifier.protected, *verifier.patterns)
        async with self.evals.workspace(repo, await self._wanted(task)) as place:
            await place.apply(patch, dropped)
            if verifier.hidden:
                await place.copy_in(verifier.hidden, to=verifier.place or ".")
            if verifier.place is not None:
                await place.copy_in({"verifier/.fairtrial": b""}, to=LOGS)
            ended = await place.run(self._call(command, place))
            reward = await _reward(place, verifier)
            isolation = place.isolation
        return _verification(ended, reward, command, isolation)

    async def reference(self, task: EvalTask) -> bytes | None:
        """Return a task's reference: its patch, or what its solution's program changes.

        None when it has neither. The program runs in a workspace of its own.

        Raises:
            InfraError: the workspace cannot be made.
            Undecidable: it was lost.
            TaskError: the program fails.
        """
        if task.reference is not None:
            return task.reference.encode("utf-8", "surrogateescape")
        if SOLVE not in task.solution:
            return None
        repo = await self.evals.prepared(task.digest, {})
        line = f"chmod +x {SOLUTION}/{SOLVE} && {SOLUTION}/{SOLVE}"
        async with self.evals.workspace(repo, await self._wanted(task)) as place:
            await place.copy_in(task.solution, to=SOLUTION)
            ended = await place.run(self._call(Command(line, task.agent_limit_s), place))
            if ended.timed_out:
                raise TaskError(f"{SOLVE} ran over its limit of {task.agent_limit_s:g} s")
            problem = bad_ending(ended.usage, in_shell=True)
            if problem is not None:
                told = with_last_line(problem, ended.usage.stderr_tail)
                raise TaskError(f"{SOLVE} failed: {told}")
            return await place.diff()

    async def _wanted(self, task: EvalTask) -> Wanted:
        if self.level not in {None, Level.IMAGE}:
            if task.verifier.place is not None:
                raise TaskError(
                    f"its verifier needs an image, and level {self.level} has none; "
                    "run it at level image"
                )
            return Wanted(self.level)
        image = await self.evals.image(task.digest)
        if image is None and self.level is Level.IMAGE:
            raise TaskError("the task has no image; verify it at another level")
        if image is None:
            return Wanted(self.level)
        folders = [] if task.verifier.place is None else [task.verifier.place, LOGS]
        folders += [SOLUTION] if task.solution else []
        return wanted_in(image, Wanted(folders=tuple(folders)))

    def _call(self, command: Command, place: RepoWorkspace) -> ProcessCall:
        try:
            env = child_environment(self.environ, command.env, (), "the verifier's env")
        except UsageError as error:  # it is of this task alone
            raise TaskError(str(error)) from error
        own = {"HOME": str(place.home), REWARD_VARIABLE: str(place.home / REWARD)}
        return ProcessCall(
            argv=("/bin/sh", "-c", command.line),
            stdin=b"",
            env={**env, **own},
            cwd=Path(place.path),
            time_limit_s=command.time_limit_s,
            max_output_bytes=_MOST_OUTPUT,
        )


def judge_options(task: EvalTask, where: str) -> judge.Options:
    """Return the options of a task's judge.

    Raises:
        UsageError: they do not fit.
    """
    from fairtrial.graders.registry import GRADERS  # noqa: PLC0415  # it lists this module

    told = {key: value for key, value in (task.verifier.judge or {}).items() if key != "kind"}
    options: judge.Options = GRADERS.options("judge", told, where)
    return options


async def _reward(place: RepoWorkspace, verifier: Verifier) -> bytes | None:
    """Return what the verifier wrote of its reward; None when it wrote nothing."""
    names = [str(place.home / REWARD)]
    if verifier.place is not None:
        names = [f"{LOGS}/verifier/reward.json", f"{LOGS}/verifier/reward.txt", *names]
    for name in names:
        data = await place.read(name, 4096)
        if data is not None:
            return data
    return None


def _verification(
    ended: ProcessResult, reward: bytes | None, command: Command, isolation: Isolation
) -> Verification:
    told = None if reward is None else reward_in(reward)
    value, reason = _ruling(ended, reward, told, command)
    return Verification(
        value,
        reason,
        {
            "exit_status": ended.usage.exit_status,
            "signal": ended.usage.signal,
            "stdout": ended.stdout[-_KEPT:].decode("utf-8", "replace"),
            "stderr": ended.usage.stderr_tail,
            "duration_s": ended.duration_s,
            "timed_out": ended.timed_out,
            "reward": told,
            "isolation": isolation.content(),
        },
    )


def _ruling(
    ended: ProcessResult, reward: bytes | None, told: float | None, command: Command
) -> tuple[float, str]:
    if ended.timed_out:
        return 0.0, f"the verifier ran over its limit of {command.time_limit_s:g} s"
    if ended.truncated:
        return 0.0, f"the verifier printed over {_MOST_OUTPUT:,} bytes"
    if told is not None:
        return told, f"the verifier gave the reward {told:g}"
    if reward is not None:
        return 0.0, "the verifier wrote a reward that is no number from 0 to 1"
    ending = bad_ending(ended.usage, in_shell=True)
    if ending is None:
        return 1.0, "the verifier passed"
    return 0.0, with_last_line(f"the verifier failed: {ending}", ended.usage.stderr_tail)


def reward_in(data: bytes) -> float | None:
    """Return the reward that a file holds: a number, or JSON with `reward`; None for neither."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        value = value.get("reward")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value) if 0 <= value <= 1 else None


def _level_of(output: Json) -> Level | None:
    told = output.get("isolation") if isinstance(output, Mapping) else None
    level = told.get("level") if isinstance(told, Mapping) else None
    return Level(level) if level in set(Level) else None


def _answer(output: Json) -> Json:
    return output.get("answer") if isinstance(output, Mapping) else None

"""A program grades: it reads the output as JSON and answers with a score or its exit status."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from fairtrial.graders.answers import MENU, grade_in
from fairtrial.graders.json_values import read_json
from fairtrial.graders.wording import shown
from fairtrial.model.errors import GraderError, TrialProblem, UsageError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.ports import ProcessCall, ProcessResult, Surroundings, Workspace
from fairtrial.workspaces.environment import child_environment

DEFAULT_THRESHOLD = 0.5

_TAIL = 220
_MAX_ANSWER_BYTES = 1024 * 1024
_BY_STATUS = {0: 1.0, 1: 0.0}


@dataclass(frozen=True)
class Options:
    """Options of a command grader."""

    command: Annotated[str, Meta(min_length=1)] | Annotated[list[str], Meta(min_length=1)]
    """The program: a text for `/bin/sh -c`, or a list of the program and its arguments."""
    answer: Literal["auto", "exit"] = "auto"
    """`auto`: what it prints is the score, or its exit status when it prints nothing; `exit`: the
    exit status alone, and it may print what it likes."""
    timeout: Annotated[float, Meta(gt=0, le=86400)] = 60.0
    """Seconds it may take; over it there is no score."""
    cwd: str = "."
    """Its working directory, relative to the spec's folder."""
    env: dict[str, str] = field(default_factory=dict)
    """Variables to set; `${NAME}` in a value is fairtrial's own variable NAME."""
    pass_env: tuple[str, ...] = ()
    """Variables of fairtrial's environment, or patterns such as `AWS_*`, that pass to it."""


@dataclass(frozen=True, slots=True)
class Command:
    """Runs a program for each output."""

    spec: GraderSpec
    options: Options
    workspace: Workspace
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path

    async def open(self) -> None:
        """Make the place ready where the program runs."""
        await self.workspace.open()

    async def grade(self, subject: Subject) -> Grade:
        """Run the program and read its answer.

        Raises:
            GraderError: it could not be run, took too long, or answered something else.
        """
        call = ProcessCall(
            argv=self.argv,
            stdin=_request(subject),
            env=self.env,
            cwd=self.cwd,
            time_limit_s=self.options.timeout,
            max_output_bytes=_MAX_ANSWER_BYTES,
        )
        try:
            result = await self.workspace.run(call)
        except TrialProblem as problem:
            raise GraderError(str(problem)) from problem
        return self._grade_of(result)

    async def close(self) -> None:
        """Do nothing: whoever built the workspace closes it."""

    def _grade_of(self, result: ProcessResult) -> Grade:
        if result.timed_out:
            raise GraderError(_with_tail(f"no answer within {self.options.timeout:g} s", result))
        if result.truncated and self.options.answer == "auto":
            raise GraderError(f"printed more than {_MAX_ANSWER_BYTES} bytes, not {MENU}")
        status = result.usage.exit_status
        if status not in _BY_STATUS:
            end = f"signal {result.usage.signal}" if status is None else f"exit status {status}"
            raise GraderError(_with_tail(f"ended with {end}", result))
        printed = result.stdout.strip() if self.options.answer == "auto" else b""
        if printed:
            return _printed_grade(printed)
        tail = _with_tail(f"exit status {status}", result)
        return Grade(_BY_STATUS[status], tail if status else None)


def _request(subject: Subject) -> bytes:
    case = subject.case
    request = {
        "output": subject.output,
        "expected": case.expected,
        "input": case.input,
        "case_id": case.id,
        "metadata": dict(case.metadata),
        "metrics": dict(subject.metrics),
    }
    try:
        # ASCII only: a lone surrogate has no UTF-8, but it has an escape.
        return json.dumps(request, allow_nan=False).encode("ascii")
    except (TypeError, ValueError) as error:
        raise GraderError(f"the output cannot be sent as JSON: {error}") from error
    except RecursionError:
        raise GraderError("the output is nested too deeply to be sent as JSON") from None


def _printed_grade(printed: bytes) -> Grade:
    text = printed.decode("utf-8", "backslashreplace")
    try:
        answer = read_json(text)
    except ValueError:
        raise GraderError(
            f"printed {shown(text)}, not {MENU}; print to standard error, or set"
            ' "answer": "exit" to judge by the exit status'
        ) from None
    return grade_in(answer)


def _with_tail(what: str, result: ProcessResult) -> str:
    told = result.usage.stderr_tail.strip()
    told = told or result.stdout[-4 * _TAIL :].decode("utf-8", "replace").strip()
    return f"{what}: {told[-_TAIL:]}" if told else what


def _argv(
    command: str | list[str], env: Mapping[str, str], cwd: Path, where: str
) -> tuple[str, ...]:
    if isinstance(command, str):
        return ("/bin/sh", "-c", command)
    # Told before the run: else every trial would be undecided for want of the same program.
    program = str(cwd / command[0]) if "/" in command[0] else command[0]
    found = shutil.which(program, path=env.get("PATH", os.defpath))
    if found is None:
        raise UsageError(
            f"there is no program {command[0]!r}",
            where=where,
            fix=f"a relative path starts at {cwd}; it must be executable",
        )
    return (found, *command[1:])


def build(spec: GraderSpec, options: Options, surroundings: Surroundings, where: str) -> Command:
    """Return the grader.

    Raises:
        UsageError: there is no such program, or a variable that `env` refers to is not set.
    """
    env = child_environment(surroundings.environ, options.env, options.pass_env, where)
    cwd = surroundings.base_dir / options.cwd
    argv = _argv(options.command, env, cwd, where)
    return Command(spec, options, surroundings.workspace, argv, env, cwd)

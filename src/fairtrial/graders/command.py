"""A program grades: it reads the output as JSON and answers with a score or its exit status."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from fairtrial.graders.answers import MENU, grade_in
from fairtrial.graders.json_values import read_json
from fairtrial.model.errors import GraderError, InfraError, TaskError, TrialProblem, Undecidable
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.wording import shown
from fairtrial.ports import ProcessCall, ProcessResult, Surroundings, Workspace
from fairtrial.workspaces.ending import bad_ending, with_last_line
from fairtrial.workspaces.first_word import check_first_word
from fairtrial.workspaces.program import Program, ProgramOptions, find_program

DEFAULT_THRESHOLD = 0.5

_MAX_ANSWER_BYTES = 1024 * 1024
_TAIL = 4096
"""Bytes of standard output that its last line is looked for in."""
_BY_STATUS = {0: 1.0, 1: 0.0}


@dataclass(frozen=True)
class Options(ProgramOptions):
    """Options of a command grader."""

    answer: Literal["auto", "exit"] = "auto"
    """`auto`: what it prints is the score, or its exit status when it prints nothing; `exit`: the
    exit status alone, and it may print what it likes."""
    timeout: Annotated[float, Meta(gt=0, le=86400)] = 60.0
    """Seconds it may take; over it there is no score."""


@dataclass(frozen=True, slots=True)
class Command:
    """Runs a program for each output."""

    spec: GraderSpec
    options: Options
    program: Program
    workspace: Workspace
    where: str

    async def open(self) -> None:
        """Make the place ready where the program runs, and ask the shell whether it knows it.

        Raises:
            UsageError: it does not.
            InfraError: the workspace cannot run programs.
        """
        try:
            await self.workspace.open()
            await check_first_word(self.options.command, self.program, self.workspace, self.where)
        except (TaskError, Undecidable) as error:
            raise InfraError(str(error), kind="setup") from error

    async def grade(self, subject: Subject) -> Grade:
        """Run the program and read its answer.

        Raises:
            GraderError: it could not be run, took too long, or answered something else.
        """
        call = ProcessCall(
            argv=self.program.argv,
            stdin=_request(subject),
            env=self.program.env,
            cwd=self.program.cwd,
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
            raise GraderError(_told(f"no answer within {self.options.timeout:g} s", result))
        if result.truncated and self.options.answer == "auto":
            raise GraderError(f"printed more than {_MAX_ANSWER_BYTES} bytes, not {MENU}")
        ending = bad_ending(result.usage, in_shell=self.program.in_shell)
        reason = ending and _told(ending, result)
        status = result.usage.exit_status
        if status not in _BY_STATUS:
            raise GraderError(f"no answer: {reason}")
        printed = result.stdout.strip() if self.options.answer == "auto" else b""
        return _printed_grade(printed) if printed else Grade(_BY_STATUS[status], reason)


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


def _told(what: str, result: ProcessResult) -> str:
    stdout_tail = result.stdout[-_TAIL:].decode("utf-8", "replace")
    return with_last_line(what, result.usage.stderr_tail, stdout_tail)


def build(spec: GraderSpec, options: Options, surroundings: Surroundings, where: str) -> Command:
    """Return the grader.

    Raises:
        UsageError: the program, its folder or a variable it needs does not exist.
    """
    program = find_program(options, surroundings, where)
    return Command(spec, options, program, surroundings.workspace, where)

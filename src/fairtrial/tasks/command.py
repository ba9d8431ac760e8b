"""A program: the case input comes on its standard input, its standard output is the output."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from msgspec import Meta

from fairtrial.model.errors import InfraError, TaskError, Undecidable
from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.model.wording import over_limit
from fairtrial.ports import ProcessCall, ProcessResult, Surroundings, Workspace
from fairtrial.tasks.envelope import json_bytes, read_envelope, request_envelope
from fairtrial.workspaces.ending import bad_ending, with_last_line
from fairtrial.workspaces.first_word import check_first_word
from fairtrial.workspaces.program import Program, ProgramOptions, find_program

_KEPT_OF_TOO_MUCH = 64 * 1024
"""Bytes kept of an output over its limit: enough to see what it was."""


@dataclass(frozen=True)
class Options(ProgramOptions):
    """The options of a command task."""

    envelope: bool = False
    """Exchange JSON envelopes: stdin gets the input with case id, trial and seed; stdout is an
    object with output, cost, tokens, metrics, spans and error."""
    max_output: Annotated[int, Meta(ge=1, le=10**9)] = 16 * 1024 * 1024
    """Bytes its standard output may have; a trial with more fails."""


@dataclass(frozen=True, slots=True)
class CommandTask:
    """Runs a program for each case.

    Attributes:
        options: As the user wrote them.
        program: What they name; its environment lacks what belongs to a single call.
        workspace: Where it runs.
        where: What the spec comes from, for error messages.
    """

    options: Options
    program: Program
    workspace: Workspace
    where: str

    async def open(self) -> None:
        """Open the workspace, and ask the shell whether it knows the command.

        Raises:
            UsageError: it does not.
            InfraError: the workspace cannot run programs.
        """
        try:
            await self.workspace.open()
            await check_first_word(self.options.command, self.program, self.workspace, self.where)
        except (TaskError, Undecidable) as error:
            raise InfraError(str(error), kind="setup") from error

    async def run(self, call: TaskCall) -> TaskResult:
        """Run the program for one case."""
        return self.result(await self.execute(call), call.time_limit_s)

    async def execute(self, call: TaskCall) -> ProcessResult:
        """Run the program for one case, and return how it ended."""
        told = request_envelope(call) if self.options.envelope else call.case.input
        program = self.program
        return await self.workspace.run(
            ProcessCall(
                argv=program.argv,
                stdin=json_bytes(told) + b"\n",
                env={**program.env, **_variables(call), **call.environ},
                cwd=program.cwd,
                time_limit_s=call.time_limit_s,
                max_output_bytes=self.options.max_output,
            )
        )

    async def close(self) -> None:
        """Do nothing: whoever built the workspace closes it."""

    def result(self, ended: ProcessResult, limit_s: float | None) -> TaskResult:
        """Return what a program that has ended says."""
        ending = self.bad_ending(ended, limit_s)
        stdout = ended.stdout[:_KEPT_OF_TOO_MUCH] if ended.truncated else ended.stdout
        try:
            answer = self._answer(stdout)
        except TaskError as problem:
            # How the program ended explains a broken answer better than the answer does.
            output = stdout.decode("utf-8", "replace")
            answer = TaskResult(output, error=ending or str(problem))
        else:
            if ending:
                error = f"{answer.error} ({ending})" if answer.error else ending
                answer = replace(answer, error=error)
        return replace(answer, timed_out=ended.timed_out, process=ended.usage)

    def _answer(self, stdout: bytes) -> TaskResult:
        if self.options.envelope:
            return read_envelope(stdout, "stdout")
        try:
            text = stdout.decode("utf-8")
        except UnicodeDecodeError as error:
            raise TaskError(
                f"stdout is not UTF-8: byte 0x{stdout[error.start]:02x} at offset {error.start}"
            ) from None
        return TaskResult(text.removesuffix("\n"))

    def bad_ending(self, ended: ProcessResult, limit_s: float | None) -> str | None:
        """Return how a program ended badly; None when it ended well."""
        if ended.timed_out:
            return over_limit(limit_s)
        if ended.truncated:
            limit = self.options.max_output
            return f"more than {limit:,} bytes of output (option 'max_output')"
        ending = bad_ending(ended.usage, in_shell=self.program.in_shell)
        return ending and with_last_line(ending, ended.usage.stderr_tail)


def build(options: Options, surroundings: Surroundings, where: str) -> CommandTask:
    """Return the task; its program, working directory and variables are looked up at once.

    Raises:
        UsageError: one of them does not exist or cannot be used.
    """
    program = find_program(options, surroundings, where)
    return CommandTask(options, program, surroundings.workspace, where)


def _variables(call: TaskCall) -> dict[str, str]:
    return {
        "FAIRTRIAL_CASE_ID": _variable(call.case.id),
        "FAIRTRIAL_CONDITION": _variable(call.case.condition),
        "FAIRTRIAL_ARM": call.arm,
        "FAIRTRIAL_TRIAL": str(call.trial),
        "FAIRTRIAL_ATTEMPT": str(call.attempt),
        "FAIRTRIAL_SEED": str(call.seed),
    }


def _variable(text: str) -> str:
    # A dataset may name a case with what no variable can hold: NUL, or half a character.
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()

"""A program: the case input comes on its standard input, its standard output is the output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from signal import Signals
from typing import Annotated

from msgspec import Meta

from fairtrial.model.errors import InfraError, TaskError, Undecidable, UsageError
from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.ports import ProcessCall, ProcessResult, Surroundings, Workspace
from fairtrial.tasks.command_line import argv_of, shell_word
from fairtrial.tasks.envelope import json_bytes, read_envelope, request_envelope
from fairtrial.tasks.wording import excerpt, over_limit
from fairtrial.workspaces.environment import child_environment

_IS_THERE = 'case $1 in */*) test -f "$1" && test -x "$1" ;; *) command -v "$1" ;; esac'
"""Asks a shell for a program, a builtin or a keyword; dash's `command -v` takes any file."""
_KEPT_OF_TOO_MUCH = 64 * 1024
"""Bytes kept of an output over its limit: enough to see what it was."""


@dataclass(frozen=True)
class Options:
    """The options of a command task."""

    command: str | tuple[str, ...]
    """The program: a text for `/bin/sh -c`, or a list of the program and its arguments."""
    envelope: bool = False
    """Exchange JSON envelopes: stdin gets the input with case id, trial and seed; stdout is an
    object with output, cost, tokens, metrics, spans and error."""
    cwd: str | None = None
    """Its working directory, relative to the spec's folder (default: that folder)."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables to set; `${NAME}` in a value is fairtrial's own variable NAME."""
    pass_env: tuple[str, ...] = ()
    """Variables of fairtrial's environment, or patterns such as `AWS_*`, that pass to it."""
    max_output: Annotated[int, Meta(ge=1)] = 16 * 1024 * 1024
    """Bytes its standard output may have; a trial with more fails."""


@dataclass(frozen=True, slots=True)
class CommandTask:
    """Runs a program for each case.

    Attributes:
        options: As the user wrote them.
        argv: The program, resolved, and its arguments.
        env: Its environment, without what belongs to a single call.
        cwd: Its working directory.
        workspace: Where it runs.
        where: What the spec comes from, for error messages.
    """

    options: Options
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
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
            await self._check_word()
        except (TaskError, Undecidable) as error:
            raise InfraError(str(error), kind="setup") from error

    async def run(self, call: TaskCall) -> TaskResult:
        """Run the program for one case."""
        told = request_envelope(call) if self.options.envelope else call.case.input
        ended = await self.workspace.run(
            ProcessCall(
                argv=self.argv,
                stdin=json_bytes(told) + b"\n",
                env={**self.env, **_variables(call)},
                cwd=self.cwd,
                time_limit_s=call.time_limit_s,
                max_output_bytes=self.options.max_output,
            )
        )
        return self._result(ended, call.time_limit_s)

    async def close(self) -> None:
        """Do nothing: whoever built the workspace closes it."""

    async def _check_word(self) -> None:
        command = self.options.command
        word = shell_word(command) if isinstance(command, str) else None
        if word is None:
            return
        argv = ("/bin/sh", "-c", _IS_THERE, "sh", word)
        answer = await self.workspace.run(ProcessCall(argv, b"", self.env, self.cwd, 10.0))
        if answer.usage.exit_status not in (0, None):
            raise UsageError(
                f"the shell finds no program {word!r}, or may not run it",
                where=f"{self.where}, option 'command'",
                fix="check its name, PATH and `chmod +x`; a relative path starts at 'cwd', "
                f"which is {self.cwd}",
            )

    def _result(self, ended: ProcessResult, limit_s: float | None) -> TaskResult:
        ending = self._bad_ending(ended, limit_s)
        stdout = ended.stdout[:_KEPT_OF_TOO_MUCH] if ended.truncated else ended.stdout
        try:
            answer = self._answer(stdout)
        except TaskError as problem:
            # How the program ended explains a broken answer better than the answer does.
            output = stdout.decode("utf-8", "replace")
            answer = TaskResult(output, error=ending or str(problem))
        else:
            if answer.error and ending:
                answer = replace(answer, error=f"{answer.error} ({ending})")
            elif ending:
                answer = replace(answer, error=ending)
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

    def _bad_ending(self, ended: ProcessResult, limit_s: float | None) -> str | None:
        usage = ended.usage
        if ended.timed_out:
            return over_limit(limit_s)
        if ended.truncated:
            limit = self.options.max_output
            return f"more than {limit:,} bytes of output (option 'max_output')"
        if usage.signal is not None:
            ending = f"killed by {_signal_name(usage.signal) or f'signal {usage.signal}'}"
        elif usage.exit_status:
            ending = f"exit status {usage.exit_status}"
            # A shell tells of a killed child in its exit status.
            name = _signal_name(usage.exit_status - 128)
            if name and isinstance(self.options.command, str):
                ending += f" ({name})"
        else:
            return None
        lines = usage.stderr_tail.split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        return f"{ending}: {excerpt(last)}" if last else ending


def build(options: Options, surroundings: Surroundings, where: str) -> CommandTask:
    """Return the task; its program, working directory and variables are looked up at once.

    Raises:
        UsageError: one of them does not exist or cannot be used.
    """
    cwd = surroundings.base_dir / (options.cwd or "")
    if not cwd.is_dir():
        raise UsageError(
            f"{cwd} is no folder" if cwd.exists() else f"there is no folder {cwd}",
            where=f"{where}, option 'cwd'",
            fix=f"a relative path starts at {surroundings.base_dir}",
        )
    env = child_environment(surroundings.environ, options.env, options.pass_env, f"{where}, 'env'")
    argv = argv_of(options.command, env, cwd, f"{where}, option 'command'")
    return CommandTask(options, argv, env, cwd, surroundings.workspace, where)


def _variables(call: TaskCall) -> dict[str, str]:
    return {
        "FAIRTRIAL_CASE_ID": _variable(call.case.id),
        "FAIRTRIAL_CONDITION": _variable(call.case.condition),
        "FAIRTRIAL_ARM": call.arm,
        "FAIRTRIAL_TRIAL": str(call.trial),
        "FAIRTRIAL_ATTEMPT": str(call.attempt),
        "FAIRTRIAL_SEED": str(call.seed),
    }


def _signal_name(number: int) -> str | None:
    try:
        return Signals(number).name
    except ValueError:
        return None


def _variable(text: str) -> str:
    # A dataset may name a case with what no variable can hold: NUL, or half a character.
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()

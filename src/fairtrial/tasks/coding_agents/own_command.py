"""An agent of the user's own: any program that edits the files of its working directory."""

from __future__ import annotations

from pathlib import Path

from fairtrial.model.errors import UsageError
from fairtrial.ports import ProcessCall, ProcessResult, Surroundings
from fairtrial.tasks.coding_agents.job import AgentOptions, Ending, Job, LoginCopy
from fairtrial.workspaces.ending import bad_ending, with_last_line
from fairtrial.workspaces.environment import child_environment

_ANSWER_BYTES = 64 * 1024


class OwnCommand:
    """Runs a command: the instruction comes on its standard input, what it prints is its answer."""

    name = "command"
    config: str | None = None
    transcripts: str | None = None
    visible: tuple[str, ...] = ()
    program: str | None = None

    def __init__(self, options: AgentOptions, surroundings: Surroundings, where: str) -> None:
        """Look at the command.

        Raises:
            UsageError: there is none, or a variable that it is to be given does not exist.
        """
        if not options.command:
            raise UsageError(
                "an agent 'command' needs to know what to run",
                where=where,
                fix='add "command", e.g. "python my_agent.py"',
            )
        self._argv = (
            ("/bin/sh", "-c", options.command)
            if isinstance(options.command, str)
            else options.command
        )
        self._in_shell = isinstance(options.command, str)
        self._env = child_environment(
            surroundings.environ, options.env, options.pass_env, f"{where}, 'env'"
        )

    def login(self) -> LoginCopy | None:
        """Return None: it brings its own."""
        return None

    def process(self, job: Job) -> ProcessCall:
        """See `CodingAgent.process`."""
        env = {**self._env, **job.environ, "HOME": str(job.home)}
        stdin = job.instruction.encode("utf-8", "replace")
        return ProcessCall(self._argv, stdin, env, Path(job.path), job.time_limit_s)

    def ending(self, ended: ProcessResult) -> Ending:
        """See `CodingAgent.ending`."""
        answer = ended.stdout[-_ANSWER_BYTES:].decode("utf-8", "replace").rstrip("\n") or None
        if ended.timed_out:
            return Ending(answer)
        problem = bad_ending(ended.usage, in_shell=self._in_shell)
        error = problem and with_last_line(problem, ended.usage.stderr_tail)
        return Ending(answer, error=error)

"""What every coding agent is given and gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

from fairtrial.model.task import Tokens
from fairtrial.ports import ProcessCall, ProcessResult


@dataclass(frozen=True, slots=True)
class Job:
    """One instruction to carry out in a workspace.

    Attributes:
        instruction: What to do.
        path: The workspace, as the agent sees it.
        home: Its home folder, as it sees it.
        environ: The trial's own variables, such as the address of the recording proxy.
        contained: Whether the workspace keeps the agent from the machine, so that it need not ask.
        time_limit_s: Seconds it may take.
    """

    instruction: str
    path: PurePosixPath
    home: PurePosixPath
    environ: Mapping[str, str]
    contained: bool
    time_limit_s: float


@dataclass(frozen=True, slots=True)
class Ending:
    """How an agent ended, as far as what it printed tells.

    Attributes:
        answer: Its last words; None when it printed none.
        error: How it failed; None when it did not.
        limit: What was used up, e.g. its turns; None when nothing was.
        cost_usd: What it says that it cost; None when it does not.
        tokens: What it says that it read and wrote.
        model: The model it used, where it says so.
    """

    answer: str | None = None
    error: str | None = None
    limit: str | None = None
    cost_usd: float | None = None
    tokens: Tokens | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class LoginCopy:
    """A login that an agent is given a copy of, for one trial.

    Attributes:
        file: The user's own.
        place: Where the agent looks for it, relative to its home.
    """

    file: Path
    place: PurePosixPath


class CodingAgent(Protocol):
    """Knows how one agent is run.

    Attributes:
        name: What sessions call it.
        transcripts: Folder of its transcripts, relative to its home; None when it writes none.
        visible: Folders that it needs to see at level `bwrap`, beside those of `PATH`.
        program: The path of its program on this machine; None for one that is found where it runs.
        config: The folder below its home that has to be there for its settings; None for none.
    """

    name: str
    config: str | None
    transcripts: str | None
    visible: tuple[str, ...]

    @property
    def program(self) -> str | None:
        """See above."""
        ...

    def login(self) -> LoginCopy | None:
        """Return the login to copy; None when a key stands in for it, or it needs none.

        Raises:
            InfraError: there is neither.
        """
        ...

    def process(self, job: Job) -> ProcessCall:
        """Return the process that does a job."""
        ...

    def ending(self, ended: ProcessResult) -> Ending:
        """Return how it ended.

        Raises:
            InfraError: the world failed: its login, its limit, the network.
        """
        ...


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What is asked of an agent, whichever it is.

    Attributes:
        model: The model; None is the agent's own choice.
        effort: How hard it thinks; None is the agent's own choice.
        max_turns: Turns it may take; None is no limit but that of time.
        program: Its name or path; None looks for it on PATH.
        command: Of an agent of the user's own, how it is started.
        env: Variables to set.
        pass_env: Variables of fairtrial's own that it sees.
    """

    model: str | None = None
    effort: str | None = None
    max_turns: int | None = None
    program: str | None = None
    command: str | tuple[str, ...] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    pass_env: tuple[str, ...] = ()


def seen_by(program: str) -> tuple[str, ...]:
    """Return the folders that a program of npm, or any other, needs to be seen by.

    Args:
        program: Its absolute path.
    """
    found = []
    for path in (Path(program), Path(program).resolve()):
        parts = path.parts
        top = parts.index("node_modules") if "node_modules" in parts else len(parts) - 1
        found.append(str(Path(*parts[: top + 1] if "node_modules" in parts else parts[:top])))
    return tuple(dict.fromkeys(found))

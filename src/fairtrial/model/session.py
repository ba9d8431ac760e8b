"""A captured coding-agent session: what happened in it, in one form for all agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, TypeAlias

from fairtrial.model.json import Json
from fairtrial.model.task import Tokens

MAIN = "main"
"""The thread that the user talks to; other threads are named by the id of their subagent."""


class Source(StrEnum):
    """Who wrote a prompt."""

    HUMAN = "human"
    SDK = "sdk"
    """A program: a headless run, a script."""
    SYSTEM = "system"
    """The agent's own surroundings, e.g. the news that a background command ended."""
    AGENT = "agent"
    """Another agent: the task of a subagent."""


class Operation(StrEnum):
    """What kind of tool was called."""

    SHELL = "shell"
    EDIT = "edit"
    WRITE = "write"
    READ = "read"
    SEARCH = "search"
    AGENT = "agent"
    TODO = "todo"
    WEB = "web"
    MCP = "mcp"
    WAIT = "wait"
    """Looks at, or waits for, a command that still runs."""
    OTHER = "other"


class ResultStatus(StrEnum):
    """How a call ended."""

    OK = "ok"
    FAIL = "fail"
    DENIED = "denied"
    """The user or a policy refused it: no failure of the agent's."""
    INTERRUPTED = "interrupted"
    RUNNING = "running"
    """The command was put into the background, or had not ended when its output was given."""
    NO_RUN = "norun"
    """It could not start: no such program or tool, a call that was not understood."""
    UNKNOWN = "unknown"


class ChangeKind(StrEnum):
    """What was done to a file."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"
    MOVE = "move"


class TurnEndReason(StrEnum):
    """Why the agent stopped."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    API_ERROR = "api-error"
    LIMIT = "limit"
    """The turns, the budget or the time it was given were used up."""


class SessionState(StrEnum):
    """How a session stands, as far as its transcript tells."""

    COMPLETED = "completed"
    """The last thing was a text of the agent, and no call was pending."""
    QUESTION = "question"
    """As completed, and that text asks the user something."""
    INTERRUPTED = "interrupted"
    API_ERROR = "api-error"
    ENDED_BY_LIMIT = "ended-by-limit"
    OPEN = "open"
    """It is still going on, or broke off without a sign."""


class Relation(StrEnum):
    """What a session is to its parent."""

    SUBAGENT = "subagent"
    FORK = "fork"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that a call changed.

    Attributes:
        path: As the agent wrote it; usually absolute.
        kind: What was done.
        diff: A unified diff without file headers; empty when the transcript does not tell.
        before: The whole text before the change, where the transcript tells it; given for the
            first change of a path only. None is unknown, or that there was no file.
        to: The new path of a moved file.
        created: The agent says that there was no such file; others add over a file that is there.
    """

    path: str
    kind: ChangeKind
    diff: str = ""
    before: str | None = None
    to: str | None = None
    created: bool = False


@dataclass(frozen=True, slots=True)
class FileText:
    """A whole file as a call read it.

    Attributes:
        path: As the agent wrote it; usually absolute.
        text: All of it; agents make all line ends plain ones.
    """

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Event:
    """What all events have.

    Attributes:
        number: Its place in the session, from 1; what a flag names as evidence.
        at: When (UTC); None when the transcript does not tell.
        thread: `MAIN`, or the id of a subagent.
    """

    kind: ClassVar[str]

    number: int
    at: datetime | None
    thread: str


@dataclass(frozen=True, slots=True)
class Prompt(Event):
    """A text that the agent was given to act on; a turn begins."""

    kind: ClassVar[str] = "prompt"

    text: str
    source: Source


@dataclass(frozen=True, slots=True)
class Said(Event):
    """A text of the agent for the user."""

    kind: ClassVar[str] = "said"

    text: str


@dataclass(frozen=True, slots=True)
class Thought(Event):
    """A text of the agent for itself; empty when the transcript hides it."""

    kind: ClassVar[str] = "thought"

    text: str


@dataclass(frozen=True, slots=True)
class Call(Event):
    """A tool that the agent called.

    Attributes:
        id: Names the call; its `Result` has the same.
        tool: The tool's own name: `Bash`, `exec_command`, …
        operation: What kind of tool.
        input: Its arguments: an object, or a text for tools that take one.
        command: The shell command, when it is one; as text, joined from its words.
        paths: The files it reads or changes, as far as its arguments tell.
    """

    kind: ClassVar[str] = "call"

    id: str
    tool: str
    operation: Operation
    input: Json
    command: str | None = None
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result(Event):
    """What a call brought.

    Attributes:
        call_id: The `Call` it belongs to.
        status: How the call ended.
        exit_code: Of a command; None when the transcript does not tell, or it was no command.
        text: What the model was shown; a long one is cut in its middle, with a mark.
        changes: The files it changed.
        duration_s: How long it took; None is unknown.
        read: The file that it read, when it read all of it for the first time, before the agent
            changed it.
    """

    kind: ClassVar[str] = "result"

    call_id: str
    status: ResultStatus
    exit_code: int | None = None
    text: str = ""
    changes: tuple[FileChange, ...] = ()
    duration_s: float | None = None
    read: FileText | None = None


@dataclass(frozen=True, slots=True)
class ApiTrouble(Event):
    """The model could not be reached, or refused.

    Attributes:
        final: Whether the turn ended with it; else the agent tried again.
        status: HTTP status; None when there was none.
        text: What was said about it.
    """

    kind: ClassVar[str] = "api_trouble"

    final: bool
    status: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Compaction(Event):
    """The conversation was replaced by a summary.

    Attributes:
        trigger: `auto` or `manual`; None is unknown.
        summary: The text that stands for what was before; empty when the transcript hides it.
    """

    kind: ClassVar[str] = "compaction"

    trigger: str | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Usage(Event):
    """The tokens of one model call; each call is there once.

    Attributes:
        message_id: Names the call, in all sessions.
        model: The model that answered; None is unknown.
        tokens: What it took.
        cost_usd: What it cost, where the agent wrote it down.
    """

    kind: ClassVar[str] = "usage"

    message_id: str
    model: str | None
    tokens: Tokens
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class TurnEnd(Event):
    """The agent stopped; where a transcript has a sign of it."""

    kind: ClassVar[str] = "turn_end"

    reason: TurnEndReason


@dataclass(frozen=True, slots=True)
class RepoStatus(Event):
    """What the agent was told of the repository when the session began.

    Attributes:
        text: Its words, with what `git status --short` printed and the newest commits.
    """

    kind: ClassVar[str] = "repo_status"

    text: str


@dataclass(frozen=True, slots=True)
class FileKept(Event):
    """The agent put a copy of a file aside before it changed it for the first time.

    Attributes:
        path: As the agent wrote it; absolute, or relative to the folder of the session.
        name: Of the copy in the agent's own folder; None when there was no such file.
    """

    kind: ClassVar[str] = "file_kept"

    path: str
    name: str | None


SessionEvent: TypeAlias = (
    Prompt
    | Said
    | Thought
    | Call
    | Result
    | ApiTrouble
    | Compaction
    | Usage
    | TurnEnd
    | RepoStatus
    | FileKept
)


@dataclass(frozen=True, slots=True)
class Counts:
    """How much happened.

    Attributes:
        turns: Prompts of a human or a program in the main thread.
        calls: Tool calls, in all threads.
        failures: Calls that failed; refused and interrupted ones are not in it.
        denials: Calls that were refused.
        changed_files: Files that were changed by an edit or a write, each once.
        compactions: How often the conversation was replaced by a summary.
    """

    turns: int = 0
    calls: int = 0
    failures: int = 0
    denials: int = 0
    changed_files: int = 0
    compactions: int = 0


@dataclass(frozen=True, slots=True)
class Unread:
    """What a reader did not understand in the files of a session.

    Attributes:
        records: How many records there are in all.
        unknown_records: How many records of each unknown type.
        unknown_fields: How often an unknown field, as `type.field`, was seen.
        bad_lines: Lines that are no record: torn, binary, in another encoding.
        clipped_lines: Lines longer than is read.
    """

    records: int = 0
    unknown_records: Mapping[str, int] = field(default_factory=dict)
    unknown_fields: Mapping[str, int] = field(default_factory=dict)
    bad_lines: int = 0
    clipped_lines: int = 0


@dataclass(frozen=True, slots=True)
class TranscriptFacts:
    """What one file tells of its session; the facts of all its files make the `Session`.

    Attributes:
        agent: As in `Session`.
        native_id: Of the session that the file belongs to.
        thread: `MAIN`, or the id of the subagent that the file is of.
        agent_version: As in `Session`.
        cwd: As in `Session`.
        branch: As in `Session`.
        commit: As in `Session`.
        started_at: The first time in the file.
        ended_at: The last one.
        state: How the main thread stands; of a file of a subagent, how that one does.
        counts: How much happened in it; `changed_files` counts `changed`.
        changed: Paths of the files that were changed.
        first_prompt: As in `Session`.
        final_text: As in `Session`.
        parent: What the agent calls the session that it came from.
        relation: What it is to that one.
        unread: What was not understood in it.
        start_tree: As in `Session`.
        derived: It was made of the agent's own transcript, which counts where it is there too.
    """

    agent: str
    native_id: str
    thread: str = MAIN
    agent_version: str | None = None
    cwd: str | None = None
    branch: str | None = None
    commit: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    state: SessionState = SessionState.OPEN
    counts: Counts = field(default_factory=Counts)
    changed: tuple[str, ...] = ()
    first_prompt: str | None = None
    final_text: str | None = None
    parent: str | None = None
    relation: Relation | None = None
    unread: Unread = field(default_factory=Unread)
    start_tree: str | None = None
    derived: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """A captured session, without its events.

    Attributes:
        id: `ses_` and 26 characters, always the same for one agent and native id.
        agent: `claude-code`, `codex`, `opencode`, `gemini`, `pi`, …
        agent_version: The newest one that wrote to it.
        native_id: What the agent calls it.
        files: The files it was read from; the first one holds the main thread.
        cwd: Where it started, as the agent wrote it; the folder may be gone.
        repo: Root of the git repository around `cwd`; None when there is none, or it is gone.
        branch: The git branch it started on.
        commit: The commit it started on, as much of its hash as the transcript tells.
        models: The models that answered, in the order they came.
        started_at: The first time in it (UTC).
        ended_at: The last one.
        state: How it stands.
        counts: How much happened.
        tokens: Of all model calls that are its own, those of its subagents' threads included.
        cost_usd: What they cost: as the agent wrote it down, else by the price list; None when
            a model's price is unknown.
        first_prompt: The first real prompt; None when it has none.
        final_text: The last text of the agent in the main thread.
        parent_id: Id of the session that it came from; that one need not be in the store.
        relation: What it is to its parent.
        unread: What was not understood.
        parser_version: Of the reader that read it; a newer one reads it again.
        start_tree: Hash of a git tree that holds all files as they were at its start, in an
            object store of the agent's own; None when it keeps none.
    """

    id: str
    agent: str
    agent_version: str | None
    native_id: str
    files: tuple[str, ...]
    cwd: str | None
    repo: str | None
    branch: str | None
    commit: str | None
    models: tuple[str, ...]
    started_at: datetime | None
    ended_at: datetime | None
    state: SessionState
    counts: Counts
    tokens: Tokens | None
    cost_usd: float | None
    first_prompt: str | None
    final_text: str | None
    parent_id: str | None
    relation: Relation | None
    unread: Unread
    parser_version: int
    start_tree: str | None = None

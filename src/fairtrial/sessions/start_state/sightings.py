"""What a transcript tells of each file before the session changed it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from fairtrial.conduct.program_names import program_words
from fairtrial.conduct.shell_words import simple_commands
from fairtrial.model.session import (
    MAIN,
    Call,
    ChangeKind,
    FileChange,
    FileKept,
    Operation,
    Prompt,
    RepoStatus,
    Result,
    ResultStatus,
    SessionEvent,
    Source,
)
from fairtrial.model.start_state import Evidence
from fairtrial.sessions.mutations import UNKNOWN_PATH, shell_writes

_LOOKS: Final = frozenset(
    {"basename", "cat", "cd", "cmp", "column", "cut", "date", "diff", "dirname", "du", "echo"}
    | {"egrep", "env", "false", "fgrep", "file", "grep", "head", "id", "jq", "less", "ls", "nl"}
    | {"printenv", "printf", "ps", "pwd", "readlink", "realpath", "rg", "sleep", "sort", "stat"}
    | {"tail", "test", "tr", "tree", "true", "type", "uname", "uniq", "wc", "which", "whoami"}
    | {"[", "[[", "export", "set", "xxd"}
)
_GIT_LOOKS: Final = frozenset(
    {"status", "diff", "log", "show", "blame", "grep", "ls-files", "rev-parse", "describe"}
)
_RAN: Final = frozenset(
    {ResultStatus.OK, ResultStatus.FAIL, ResultStatus.RUNNING, ResultStatus.UNKNOWN}
    | {ResultStatus.INTERRUPTED}
)


@dataclass(frozen=True, slots=True)
class Sighting:
    """The first thing that a transcript tells of a file.

    Attributes:
        event: The event that tells it.
        evidence: What tells it; None when nothing does, but the file was changed.
        text: The whole file, where it is told as text.
        data: The whole file, where a copy of it is there.
        absent: There was no such file.
        change: The change, when it does not tell the whole file.
        command: The newest event before it that ran a command which may have changed any file.
        turn: Which turn it is in, from 1.
    """

    event: int
    evidence: Evidence | None
    text: str | None = None
    data: bytes | None = None
    absent: bool = False
    change: FileChange | None = None
    command: int | None = None
    turn: int = 1


@dataclass
class Sightings:
    """What a transcript tells of all files, as it writes their paths.

    Attributes:
        files: The first sighting of each.
        changes: All changes of each file that are told, with their events.
        shell: Files that a command is known to have written, and the first event that did.
        commands: Events that ran commands which may have changed any file.
        status: The recorded git status; None when there is none.
    """

    files: dict[str, Sighting] = field(default_factory=dict)
    changes: dict[str, list[tuple[int, FileChange]]] = field(default_factory=dict)
    shell: dict[str, int] = field(default_factory=dict)
    commands: list[int] = field(default_factory=list)
    status: str | None = None


def sightings_of(
    events: Sequence[SessionEvent],
    cwd: str | None,
    copy: Callable[[str], bytes | None],
    absolute: Callable[[str], str],
) -> Sightings:
    """Return what the events tell.

    Args:
        events: All events of a session, in order.
        cwd: The folder of the session.
        copy: Returns what the agent put aside under a name; None when it is not there any more.
        absolute: Returns a path in one spelling, so that two spellings are one file.
    """
    ended = {event.call_id: event.status for event in events if isinstance(event, Result)}
    watcher = _Watcher(copy, absolute, cwd, ended)
    for event in events:
        watcher.see(event)
    return watcher.found


@dataclass
class _Watcher:
    copy: Callable[[str], bytes | None]
    absolute: Callable[[str], str]
    cwd: str | None
    ended: Mapping[str, ResultStatus]
    found: Sightings = field(default_factory=Sightings)
    turn: int = 0
    moved: bool = False

    def see(self, event: SessionEvent) -> None:
        match event:
            case RepoStatus() if event.thread == MAIN and self.found.status is None:
                self.found.status = event.text
            case Prompt() if event.thread == MAIN and event.source in (Source.HUMAN, Source.SDK):
                self.turn += 1
            case FileKept():
                self._kept(event)
            case Call():
                self._called(event)
            case Result():
                self._result(event)
            case _:
                pass

    def _put(self, path: str, sighting: Sighting) -> None:
        self.found.files.setdefault(self.absolute(path), sighting)

    def _sighting(self, event: int, evidence: Evidence | None, **told: object) -> Sighting:
        command = self.found.commands[-1] if self.found.commands else None
        return Sighting(event, evidence, command=command, turn=max(1, self.turn), **told)  # type: ignore[arg-type]

    def _kept(self, event: FileKept) -> None:
        if event.name is None:
            sighting = self._sighting(event.number, Evidence.COPY, absent=True)
        else:
            data = self.copy(event.name)
            if data is None:
                return
            sighting = self._sighting(event.number, Evidence.COPY, data=data)
        self._put(event.path, sighting)

    def _result(self, result: Result) -> None:
        if result.read is not None:
            sighting = self._sighting(result.number, Evidence.READ, text=result.read.text)
            self._put(result.read.path, sighting)
        for change in result.changes:
            self._changed(change, result.number)

    def _changed(self, change: FileChange, number: int) -> None:
        self.found.changes.setdefault(self.absolute(change.path), []).append((number, change))
        if change.before is not None:
            sighting = self._sighting(number, Evidence.EDIT, text=change.before, change=change)
        elif change.kind is ChangeKind.ADD:
            sighting = self._sighting(number, Evidence.CREATED, absent=True, change=change)
        else:
            sighting = self._sighting(number, None, change=change)
        self._put(change.path, sighting)
        if change.to is not None:
            self._put(change.to, self._sighting(number, Evidence.CREATED, absent=True))

    def _called(self, call: Call) -> None:
        """Take a command when it is called: what runs beside it may see what it does."""
        if self.ended.get(call.id, ResultStatus.UNKNOWN) not in _RAN:
            return
        if call.operation is Operation.MCP:
            self.found.commands.append(call.number)
        elif call.command is not None:
            self._ran(call, call.command)

    def _ran(self, call: Call, text: str) -> None:
        commands = simple_commands(text)
        anything = not commands or self._is_elsewhere(call)
        writes = [path for write in shell_writes(commands) for path in (write.path, write.to)]
        for path in filter(None, writes):
            if path == UNKNOWN_PATH or not _is_plain(path):
                anything = True
            else:
                self.found.shell.setdefault(self.absolute(path), call.number)
        if anything or not all(_only_looks(part.words, wrote=bool(writes)) for part in commands):
            self.found.commands.append(call.number)
        self.moved = self.moved or any(part.words[0] in ("cd", "pushd") for part in commands)

    def _is_elsewhere(self, call: Call) -> bool:
        """Return whether relative paths of a command may start at another folder."""
        given = call.input.get("workdir") if isinstance(call.input, dict) else None
        return self.moved or (isinstance(given, str) and given != self.cwd)


def _is_plain(path: str) -> bool:
    """Return whether the shell takes a path as it stands."""
    return not any(letter in path for letter in "*?[$`{") and not path.startswith("~")


def _only_looks(words: Sequence[str], *, wrote: bool) -> bool:
    """Return whether a program changes no file, or only those that are known.

    Args:
        words: The program and its arguments.
        wrote: Whether the files that the whole command writes are known.
    """
    found = program_words(words)
    if not found:
        return True
    name, arguments = found[0], found[1:]
    if name == "git":
        return bool(arguments) and arguments[0] in _GIT_LOOKS
    if name == "find":
        return not any(
            word.startswith(("-exec", "-delete", "-ok", "-fprint")) for word in arguments
        )
    if name == "sed":
        return not any(word.startswith(("-i", "--in-place")) for word in arguments) or wrote
    if name in ("rm", "tee", "unlink"):
        return wrote and not any(word.startswith("-") and "r" in word.lower() for word in arguments)
    return name in _LOOKS

"""The files that a session left, by doing again what its transcript tells of its edits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from fairtrial.model.json import Json
from fairtrial.model.session import Call, ChangeKind, FileChange, Result, SessionEvent
from fairtrial.sessions.start_state.texts import bytes_of

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
_LEFT_OUT: Final = (" characters left out …]", "[redacted")
_NO_END: Final = "\\ No newline"


@dataclass(frozen=True, slots=True)
class Edited:
    """What edits made of files.

    Attributes:
        files: The files that were changed and what they are then; None is not there any more.
        unknown: Files of which it cannot be told, and why.
    """

    files: Mapping[str, bytes | None]
    unknown: Mapping[str, str]


def edited(
    events: Sequence[SessionEvent],
    inside: Callable[[str], str | None],
    before: Callable[[str], bytes | None],
) -> Edited:
    """Return what the edits of a session made of the files that it began with.

    Args:
        events: All its events, in order.
        inside: Returns a path relative to the root of the files; None when it is not among them.
        before: Returns a file as it was, by its relative path; None when there was none.
    """
    calls = {event.id: event for event in events if isinstance(event, Call)}
    again = _Again(inside, before)
    for event in events:
        if isinstance(event, Result):
            call = calls.get(event.call_id)
            given = call.input if call is not None and len(event.changes) == 1 else None
            for change in event.changes:
                again.do(change, given, event.number)
    changed = {path: data for path, data in again.files.items() if data != before(path)}
    return Edited(changed, again.unknown)


@dataclass
class _Again:
    inside: Callable[[str], str | None]
    before: Callable[[str], bytes | None]
    files: dict[str, bytes | None] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)

    def do(self, change: FileChange, given: Json, number: int) -> None:
        path = self.inside(change.path)
        if path is None:
            return
        to = path if change.to is None else self.inside(change.to)
        if path in self.unknown:
            if to is not None and to != path:
                self._give_up(to, self.unknown[path])
            return
        now = self.files[path] if path in self.files else self.before(path)
        after = None if change.kind is ChangeKind.DELETE else _after(now, change, given)
        if after is None and change.kind is not ChangeKind.DELETE:
            self._give_up(path, f"what event {number} did to it is not told in full")
            return
        if to != path:
            self.files[path] = None
        if to is not None:
            self.files[to] = after

    def _give_up(self, path: str, reason: str) -> None:
        self.files.pop(path, None)
        self.unknown.setdefault(path, reason)


def _after(now: bytes | None, change: FileChange, given: Json) -> bytes | None:
    """Return a file after a change; None when that cannot be told."""
    whole = _text(given, "content")
    if change.kind is ChangeKind.ADD:
        text = whole if whole is not None else _patched("", change.diff)
        return None if text is None else bytes_of(text, now, raw=True)[0]
    if now is None:
        return None
    if change.kind is ChangeKind.MOVE and not change.diff:
        return now
    try:
        told = now.decode()
    except UnicodeDecodeError:
        return None
    plain = told.replace("\r\n", "\n")
    text = whole if whole is not None else _changed(plain, change, given)
    return None if text is None else bytes_of(text, now, raw=False)[0]


def _changed(plain: str, change: FileChange, given: Json) -> str | None:
    found = _patched(plain, change.diff)
    if found is not None:
        return found
    old, new = _text(given, "old_string"), _text(given, "new_string")
    if not old or new is None or old not in plain:
        return _patched(plain, change.diff, anywhere=True)
    every = isinstance(given, Mapping) and given.get("replace_all") is True
    return plain.replace(old, new, -1 if every else 1)


def _text(given: Json, name: str) -> str | None:
    value = given.get(name) if isinstance(given, Mapping) else None
    if not isinstance(value, str) or any(mark in value for mark in _LEFT_OUT):
        return None
    return value.replace("\r\n", "\n")


@dataclass
class _Hunk:
    start: int | None
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


def _patched(text: str, diff: str, *, anywhere: bool = False) -> str | None:
    """Return a text after a unified diff; None when it does not fit.

    Args:
        text: The text before.
        diff: The diff, without headers of files.
        anywhere: Its lines may stand elsewhere than it says, where they stand once.
    """
    if not diff or any(mark in diff for mark in _LEFT_OUT):
        return None
    hunks, ends = _hunks(diff)
    lines = text.split("\n")
    for hunk in reversed(hunks):
        place = _place(lines, hunk, anywhere=anywhere)
        if place is None:
            return None
        lines[place : place + len(hunk.old)] = hunk.new
    done = "\n".join(lines)
    if "+" in ends:
        return done.removesuffix("\n")
    return f"{done}\n" if "-" in ends and not done.endswith("\n") else done


def _hunks(diff: str) -> tuple[list[_Hunk], str]:
    """Return the hunks, and the marks of the lines after which a file has no line end."""
    found: list[_Hunk] = []
    ends, last = "", ""
    for line in diff.removesuffix("\n").split("\n"):
        numbers = _HUNK.match(line)
        if line.startswith("@@"):
            start = None
            if numbers is not None:
                start = int(numbers[1]) - (0 if numbers[2] == "0" else 1)
            found.append(_Hunk(start))
            continue
        if line.startswith(_NO_END):
            ends += last
            continue
        if not found:
            found.append(_Hunk(None))
        last = line[:1]
        if last in ("", " ", "-"):
            found[-1].old.append(line[1:])
        if last in ("", " ", "+"):
            found[-1].new.append(line[1:])
    return found, ends


def _place(lines: Sequence[str], hunk: _Hunk, *, anywhere: bool) -> int | None:
    size = len(hunk.old)
    start = hunk.start
    if start is not None and start >= 0 and list(lines[start : start + size]) == hunk.old:
        return start if start <= len(lines) else None
    if not hunk.old or not (anywhere or start is None):
        return None
    found = [at for at in range(len(lines) - size + 1) if list(lines[at : at + size]) == hunk.old]
    return found[0] if len(found) == 1 else None

"""The patches that models of Codex write, and the changes that it records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from fairtrial.model.session import ChangeKind, FileChange
from fairtrial.sessions.account import clipped
from fairtrial.sessions.diffs import added, removed

_FILE: Final = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
_MOVE: Final = re.compile(r"^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)
_END: Final = re.compile(r"^\*\*\* (?:End Patch|End of File).*$", re.MULTILINE)
_KINDS: Final = {
    "Add": ChangeKind.ADD,
    "Update": ChangeKind.UPDATE,
    "Delete": ChangeKind.DELETE,
    "add": ChangeKind.ADD,
    "update": ChangeKind.UPDATE,
    "delete": ChangeKind.DELETE,
}
MARK: Final = "*** Begin Patch"


def patched(text: str) -> tuple[FileChange, ...]:
    """Return what a patch changes, if it is applied."""
    heads = list(_FILE.finditer(text))
    changes = []
    for head, after in zip(heads, [*heads[1:], None], strict=False):
        body = text[head.end() + 1 : after.start() if after is not None else len(text)]
        changes.append(_change(_KINDS[head[1]], head[2], _END.sub("", body)))
    return tuple(changes)


def _change(kind: ChangeKind, path: str, body: str) -> FileChange:
    move = _MOVE.search(body)
    if kind is ChangeKind.ADD:
        lines = [line[1:] for line in body.split("\n") if line.startswith("+")]
        return FileChange(path, kind, clipped(added("\n".join(lines))))
    diff = _MOVE.sub("", body).strip("\n")
    diff = clipped(diff + "\n") if diff else ""
    if move is not None:
        return FileChange(path, ChangeKind.MOVE, diff, to=move[1])
    return FileChange(path, kind, diff)


def recorded(changes: Any) -> tuple[FileChange, ...]:
    """Return the changes that Codex recorded: an object from path to what was done."""
    if not isinstance(changes, Mapping):
        return ()
    return tuple(
        found
        for path, told in changes.items()
        if isinstance(told, Mapping) and (found := _recorded(str(path), told)) is not None
    )


def _recorded(path: str, told: Mapping[str, Any]) -> FileChange | None:
    # Before 0.14x the kind was the only key: {"update": {…}}.
    if len(told) == 1:
        name, inner = next(iter(told.items()))
        if name in _KINDS and isinstance(inner, Mapping):
            told = {"type": name, **inner}
    kind = _KINDS.get(str(told.get("type")))
    if kind is None:
        return None
    content, diff = told.get("content"), told.get("unified_diff")
    whole = content if isinstance(content, str) else ""
    if kind is ChangeKind.ADD:
        return FileChange(path, kind, clipped(added(whole)))
    if kind is ChangeKind.DELETE:
        return FileChange(path, kind, clipped(removed(whole)), whole or None)
    to = told.get("move_path")
    text = clipped(diff) if isinstance(diff, str) else ""
    if isinstance(to, str):
        return FileChange(path, ChangeKind.MOVE, text, to=to)
    return FileChange(path, kind, text)

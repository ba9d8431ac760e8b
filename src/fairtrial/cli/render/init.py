"""`init` as text."""

from __future__ import annotations

from pathlib import PurePath

from rich.console import Console

from fairtrial.app.reports.init import Action, InitReport, SettingsChange
from fairtrial.cli.render.lines import line

_DONE = {
    Action.CREATE: "made",
    Action.CHANGE: "changed",
    Action.RESTORE: "as it was before",
    Action.DELETE: "removed: nothing else was in it",
    Action.NONE: "nothing to change",
}
_PLANNED = {
    Action.CREATE: "would be made",
    Action.CHANGE: "would be changed",
    Action.RESTORE: "would be as it was before",
    Action.DELETE: "would be removed: nothing else is in it",
    Action.NONE: "nothing to change",
}
_NEXT = "Start a session, then look: fairtrial doctor"
_SERVER_NEXT = {
    "config.toml": "See it in Codex: codex mcp list",
    ".mcp.json": "Claude Code asks whoever works here before it starts the server: claude mcp list",
    ".claude.json": "See it in Claude Code: claude mcp list",
}
_TRUST = "Codex asks once, when its terminal starts, whether it may run the hooks."


def render(report: InitReport, console: Console) -> None:
    """Print what was done with each file, and what comes next."""
    for change in report.changes:
        _file(change, console, made=report.made)
    if not report.changes:  # of an undo: else an agent without settings is an error
        line(console, "Nothing to undo: no file holds what `fairtrial init` adds")
    changed = [change for change in report.changes if change.action is not Action.NONE]
    if not report.made:
        if changed and not report.asking:
            line(console, "Nothing was changed. To make these changes: the same with --yes")
        return
    if report.undo or not changed:
        return
    if report.mcp:
        for change in changed:
            line(console, _SERVER_NEXT[PurePath(change.path).name])
        return
    line(console, _NEXT)
    if any(change.path.endswith("hooks.json") for change in changed):
        line(console, _TRUST)


def _file(change: SettingsChange, console: Console, *, made: bool) -> None:
    if not made and change.diff:
        for text in change.diff.splitlines():
            style = {"+": "green", "-": "red"}.get(text[:1], "")
            line(console, text, style)
    words = (_DONE if made else _PLANNED)[change.action]
    line(console, f"{change.agent}: {change.path}: {words}")
    if made and change.backup:
        line(console, f"  the file as it was before: {change.backup}")
    if change.note:
        line(console, f"  {change.note}")

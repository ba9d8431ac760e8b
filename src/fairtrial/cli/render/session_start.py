"""The state that a session began with, as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from fairtrial.cli.render.lines import line, more
from fairtrial.cli.render.words import counted
from fairtrial.model.start_state import Conflict, Grade, StartState, Unknown

_SHOWN = 8


def headline(state: StartState) -> str:
    """Return one line: the grade, why, and how much is not told."""
    if state.grade is None:
        return f"start: cannot be rebuilt: {'; '.join(state.reasons)}"
    counts = [
        counted(len(state.overrides), "file") + " differed from the commit"
        if state.overrides
        else "",
        f"{len(state.unknown):,} unknown" if state.unknown else "",
        counted(len(state.conflicts), "conflict") if state.conflicts else "",
    ]
    told = "".join(f", {part}" for part in counts if part)
    return f"start: {state.grade}: {'; '.join(state.reasons)}{told}"


def show_start(state: StartState, console: Console) -> None:
    """Print what is known of a state, and what is not."""
    line(console, headline(state), "yellow" if state.grade is Grade.CONFLICTING else "")
    for override in state.overrides[:_SHOWN]:
        what = "was not there" if override.content is None else "differed"
        line(console, f"  {override.path} {what} ({override.evidence})", "dim")
    more(console, len(state.overrides) - _SHOWN)
    _list(state.conflicts, "conflict", "red", console)
    _list(state.unknown, "unknown", "yellow", console)
    for path in state.outside[:_SHOWN]:
        line(console, f"  outside of the repository: {path}", "dim")
    more(console, len(state.outside) - _SHOWN)


def _list(
    found: Sequence[Conflict] | Sequence[Unknown], word: str, style: str, console: Console
) -> None:
    for one in found[:_SHOWN]:
        where = f" (#{one.event})" if one.event is not None else ""
        path = f"{one.path}: " if one.path else ""
        line(console, f"  {word}: {path}{one.reason}{where}", style)
    more(console, len(found) - _SHOWN)

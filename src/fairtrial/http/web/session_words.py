"""A session in the words of a list and of its page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fairtrial.http.web.experiment_words import Chip
from fairtrial.http.web.row_words import Preview, preview
from fairtrial.http.web.words import duration, text_of
from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
    Compaction,
    Prompt,
    Result,
    ResultStatus,
    Said,
    Session,
    SessionEvent,
    SessionState,
    Source,
    Thought,
    TurnEnd,
    TurnEndReason,
)
from fairtrial.model.start_state import Grade, StartState

_TEXT: Final = 1_500
_STATES: Final[Mapping[SessionState, Chip]] = {
    SessionState.COMPLETED: Chip("Completed", "quiet"),
    SessionState.QUESTION: Chip("Asks", "busy", "the agent's last text asks the user something"),
    SessionState.INTERRUPTED: Chip("Interrupted", "warn"),
    SessionState.API_ERROR: Chip("API error", "warn"),
    SessionState.ENDED_BY_LIMIT: Chip("Ended by limit", "warn"),
    SessionState.OPEN: Chip("Open", "busy", "still going on, or broke off without a sign"),
}
_GRADES: Final[Mapping[Grade, Chip]] = {
    Grade.EXACT: Chip("exact", "good"),
    Grade.BASE_EXACT: Chip("base exact", "good"),
    Grade.GUESSED: Chip("guessed", "warn"),
    Grade.CONFLICTING: Chip("conflicting", "bad"),
}
_BAD: Final = (ResultStatus.FAIL, ResultStatus.NO_RUN)


@dataclass(frozen=True, slots=True)
class EventView:
    """An event of a transcript.

    Attributes:
        number: Its place in the session.
        kind: What its marks are drawn by: `prompt`, `said`, `thought`, `call`, `result`, `note`.
        title: Who or what it is.
        head: What was called, or how it ended; one line.
        bad: Whether something failed.
        text: What it holds; None when that is nothing.
        flags: The flags that it is the last evidence of.
    """

    number: int
    kind: str
    title: str
    head: str
    bad: bool
    text: Preview | None
    flags: Sequence[Flag]


def state_chip(session: Session) -> Chip:
    """Return how a session stands."""
    return _STATES[session.state]


def flag_chips(flags: Sequence[Flag]) -> list[Chip]:
    """Return a chip for each kind of flag, those that warn first."""
    ordered = sorted(flags, key=lambda flag: flag.level is not FlagLevel.WARN)
    first = {flag.name: flag for flag in reversed(ordered)}
    names = dict.fromkeys(flag.name for flag in ordered)
    return [Chip(name, flag_kind(first[name]), first[name].summary) for name in names]


def flag_kind(flag: Flag) -> str:
    """Return the colour of a flag."""
    return "warn" if flag.level is FlagLevel.WARN else "quiet"


def title_of(session: Session) -> str:
    """Return the first line of what was asked."""
    lines = (session.first_prompt or "").strip().splitlines()
    return lines[0] if lines else "(nothing was asked)"


def place_of(session: Session) -> str:
    """Return the folder of a session by its last part."""
    return (session.repo or session.cwd or "–").rstrip("/").rpartition("/")[2] or "/"


def took(session: Session) -> str:
    """Return how long a session went on."""
    if session.started_at is None or session.ended_at is None:
        return duration(None)
    return duration((session.ended_at - session.started_at).total_seconds())


def grade_chip(start: StartState) -> Chip:
    """Return how surely the state is known that a session began with."""
    if start.grade is None:
        return Chip("not known", "warn", "; ".join(start.reasons))
    found = _GRADES[start.grade]
    return Chip(found.text, found.kind, "; ".join(start.reasons))


def event_views(events: Sequence[SessionEvent], flags: Sequence[Flag]) -> list[EventView]:
    """Return what a transcript shows; what tells a reader nothing is left out."""
    at: dict[int, list[Flag]] = {}
    for flag in flags:
        if flag.evidence:
            at.setdefault(flag.evidence[-1], []).append(flag)
    views = [_view(event, at.get(event.number, ())) for event in events]
    return [view for view in views if view is not None]


def event_text(event: SessionEvent) -> str:
    """Return all that an event holds, as text."""
    match event:
        case Prompt() | Said() | Thought() | ApiTrouble():
            return event.text
        case Compaction():
            return event.summary
        case Call():
            return event.command if event.command is not None else text_of(event.input)
        case Result():
            return "\n".join([*(_change(one) for one in _changes(event)), event.text]).strip("\n")
        case _:
            return ""


def _view(event: SessionEvent, flags: Sequence[Flag]) -> EventView | None:
    described = _described(event)
    if described is None and not flags:
        return None
    kind, title, head, bad = described or ("note", event.kind.replace("_", " "), "", False)
    if event.thread != MAIN:
        title = f"{title} · {event.thread[:8]}"
    text = event_text(event).strip("\n")
    if kind == "call" and text == head:
        text = ""
    shown = preview(text, _TEXT) if text else None
    return EventView(event.number, kind, title, head, bad, shown, flags)


_Described = tuple[str, str, str, bool]
"""An event's kind, who it is, one line about it, and whether something failed."""


def _described(event: SessionEvent) -> _Described | None:
    found: _Described | None = None
    match event:
        case Prompt():
            who = "You" if event.source is Source.HUMAN else event.source.value
            found = "prompt", who, "", False
        case Said():
            found = "said", "Agent", "", False
        case Thought() if event.text:
            found = "thought", "Thought", "", False
        case Call():
            found = "call", event.tool, _asked(event), False
        case Result():
            found = "result", "Result", _ended(event), event.status in _BAD
        case ApiTrouble():
            found = "note", "Trouble with the API", "" if event.final else "it tried again", True
        case Compaction():
            found = "note", "The conversation was replaced by a summary", "", False
        case TurnEnd() if event.reason is not TurnEndReason.COMPLETED:
            found = "note", "The turn ended", event.reason.value, True
    return found


def _asked(call: Call) -> str:
    if call.command is not None:
        return call.command if "\n" not in call.command else call.command.splitlines()[0]
    if call.paths:
        return " ".join(call.paths)
    if isinstance(call.input, str):
        return ""
    return json.dumps(call.input, ensure_ascii=False)[:200]


def _ended(result: Result) -> str:
    facts = [result.status.value]
    if result.exit_code is not None:
        facts.append(f"exit {result.exit_code}")
    if result.duration_s is not None:
        facts.append(duration(result.duration_s))
    return ", ".join(facts)


def _changes(result: Result) -> list[tuple[str, str]]:
    return [
        (f"{one.kind.value} {one.path}" + (f" to {one.to}" if one.to else ""), one.diff)
        for one in result.changes
    ]


def _change(change: tuple[str, str]) -> str:
    head, diff = change
    return f"{head}\n{diff}" if diff else head

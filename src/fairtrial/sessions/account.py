"""What is counted and remembered while a transcript is read, the same for all agents."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from fairtrial.model.json import Json
from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
    Compaction,
    Counts,
    Prompt,
    Relation,
    Result,
    ResultStatus,
    Said,
    SessionEvent,
    SessionState,
    Source,
    TranscriptFacts,
    TurnEnd,
    TurnEndReason,
    Unread,
)

LONGEST_TEXT: Final = 32 * 1024
"""Characters of a text that are kept: a bit of its end, the rest from its start."""
_KEPT_END: Final = 8 * 1024
_MOST_NAMES: Final = 200
"""Names of unknown records and fields that are told apart."""
_DEEPEST: Final = 100
_LONGEST_PROMPT: Final = 64 * 1024

_LONGEST_LINE: Final = 2_000
_CUT: Final = re.compile(r"\n\[… [\d,]+ characters left out …\]\n")
_CODE: Final = re.compile(r"`[^`]*`|https?://\S+")
_QUESTION: Final = re.compile(r"""\w[)"'”*_]*\?(?=["'”*_)]*(?:\s|$))""")

_ENDS: Final = {
    TurnEndReason.COMPLETED: SessionState.COMPLETED,
    TurnEndReason.INTERRUPTED: SessionState.INTERRUPTED,
    TurnEndReason.API_ERROR: SessionState.API_ERROR,
    TurnEndReason.LIMIT: SessionState.ENDED_BY_LIMIT,
}


class Account(msgspec.Struct):
    """What is known of one file; a part of the state that a reader goes on with."""

    native_id: str = ""
    thread: str = MAIN
    agent_version: str | None = None
    cwd: str | None = None
    branch: str | None = None
    commit: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    status: SessionState = SessionState.OPEN
    turns: int = 0
    calls: int = 0
    failures: int = 0
    denials: int = 0
    compactions: int = 0
    changed: dict[str, None] = msgspec.field(default_factory=dict)
    first_prompt: str | None = None
    final_text: str | None = None
    parent: str | None = None
    relation: Relation | None = None
    records: int = 0
    unknown_records: dict[str, int] = msgspec.field(default_factory=dict)
    unknown_fields: dict[str, int] = msgspec.field(default_factory=dict)
    bad_lines: int = 0
    clipped_lines: int = 0
    start_tree: str | None = None
    derived: bool = False

    def seen_at(self, at: datetime | None) -> None:
        """Note a time; clocks jump, so the first is the earliest, whatever its place."""
        if at is None:
            return
        if self.started_at is None or at < self.started_at:
            self.started_at = at
        if self.ended_at is None or at > self.ended_at:
            self.ended_at = at

    def note(self, event: SessionEvent) -> None:
        """Count an event."""
        own = event.thread == self.thread
        match event:
            case Call():
                self.calls += 1
                if own:
                    self.status = SessionState.OPEN
            case Result():  # of a command in the background, it may come after the end of a turn
                self._result(event)
            case Said() if own:
                self.final_text = event.text
                self.status = _stands(event.text)
            case Prompt():
                self._prompt(event, own=own)
            case ApiTrouble() if own and event.final:
                self.status = SessionState.API_ERROR
            case Compaction():
                self.compactions += 1
            case TurnEnd() if own:
                self._turn_end(event.reason)
            case _:
                pass

    def _result(self, event: Result) -> None:
        if event.status in (ResultStatus.FAIL, ResultStatus.NO_RUN):
            self.failures += 1
        elif event.status is ResultStatus.DENIED:
            self.denials += 1
        for change in event.changes:
            self.changed[change.path] = None

    def _prompt(self, event: Prompt, *, own: bool) -> None:
        if not own:
            return
        self.status = SessionState.OPEN
        if event.source in (Source.HUMAN, Source.SDK):
            self.turns += 1
        if self.first_prompt is None and (event.source is not Source.SYSTEM or self.thread != MAIN):
            self.first_prompt = event.text[:_LONGEST_PROMPT]

    def _turn_end(self, reason: TurnEndReason) -> None:
        finished = (SessionState.COMPLETED, SessionState.QUESTION)
        if reason is TurnEndReason.COMPLETED and self.status in (*finished, SessionState.API_ERROR):
            return
        self.status = _ENDS[reason]

    def unknown_record(self, name: str) -> None:
        """Count a record of an unknown type."""
        _count(self.unknown_records, name)

    def unknown_field(self, name: str) -> None:
        """Count a field that no known record has."""
        _count(self.unknown_fields, name)

    def facts(self, agent: str) -> TranscriptFacts:
        """Return what is known so far."""
        return TranscriptFacts(
            agent=agent,
            native_id=self.native_id,
            thread=self.thread,
            agent_version=self.agent_version,
            cwd=self.cwd,
            branch=self.branch,
            commit=self.commit,
            started_at=self.started_at,
            ended_at=self.ended_at,
            state=self.status,
            counts=Counts(
                turns=self.turns,
                calls=self.calls,
                failures=self.failures,
                denials=self.denials,
                changed_files=len(self.changed),
                compactions=self.compactions,
            ),
            changed=tuple(self.changed),
            first_prompt=self.first_prompt,
            final_text=self.final_text,
            parent=self.parent,
            relation=self.relation,
            unread=Unread(
                records=self.records,
                unknown_records=dict(self.unknown_records),
                unknown_fields=dict(self.unknown_fields),
                bad_lines=self.bad_lines,
                clipped_lines=self.clipped_lines,
            ),
            start_tree=self.start_tree,
            derived=self.derived,
        )


def _stands(text: str) -> SessionState:
    """Return how a session stands after this last text: its last line may hold a question."""
    lines = text.rstrip().rsplit("\n", 1)
    asks = _QUESTION.search(_CODE.sub("", lines[-1][-_LONGEST_LINE:]))
    return SessionState.QUESTION if asks else SessionState.COMPLETED


def _count(counts: dict[str, int], name: str) -> None:
    shown = name[:80]
    if shown not in counts and len(counts) >= _MOST_NAMES:
        shown = "…"
    counts[shown] = counts.get(shown, 0) + 1


def moment(text: Any) -> datetime | None:
    """Return the time that a record tells, in UTC; None when it tells none.

    Numbers are seconds or milliseconds since 1970.
    """
    try:
        if isinstance(text, str):
            found = datetime.fromisoformat(text)
            if found.tzinfo is UTC:
                return found
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        if isinstance(text, int | float) and not isinstance(text, bool):
            return datetime.fromtimestamp(text / 1000 if text > 1e11 else text, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def clipped(text: str) -> str:
    """Return a text that is not too long to keep; what is cut out is said in its place."""
    if len(text) <= LONGEST_TEXT:
        return text
    start = LONGEST_TEXT - _KEPT_END
    cut = len(text) - LONGEST_TEXT
    return f"{text[:start]}\n[… {cut:,} characters left out …]\n{text[-_KEPT_END:]}"


def is_clipped(text: str) -> bool:
    """Return whether something was cut out of a text that `clipped` returned."""
    return len(text) >= LONGEST_TEXT and _CUT.search(text) is not None


def clipped_json(value: Json, deep: int = 0) -> Json:
    """Return a value whose texts are not too long to keep, and which can be stored."""
    if isinstance(value, str):
        return clipped(value)
    if deep > _DEEPEST:
        return "[… too deep …]"
    if isinstance(value, list):
        return [clipped_json(part, deep + 1) for part in value]
    if isinstance(value, dict):
        return {name: clipped_json(part, deep + 1) for name, part in value.items()}
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return "[… a number out of bounds …]"
    return value


def text_of(content: Any) -> str:
    """Return the text of what a model was shown: a text, or blocks of which some are texts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [_block_text(block) for block in content]
        return "\n".join(part for part in parts if part)
    return ""


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    text = block.get("text")
    if isinstance(text, str):
        return text
    kind = block.get("type")
    return f"[{kind}]" if isinstance(kind, str) else ""

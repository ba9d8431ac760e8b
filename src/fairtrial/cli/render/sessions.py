"""A session in a few words: what lists and pages of sessions share."""

from __future__ import annotations

from fairtrial.cli.render.words import counted, duration, money, when
from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import Relation, Session

_ID = 12


def short_id(session: Session) -> str:
    """Return as much of a session's id as names it."""
    return session.id[:_ID]


def title(session: Session, limit: int) -> str:
    """Return the first line of what was asked, cut to so many characters."""
    lines = (session.first_prompt or "").strip().splitlines()
    text = lines[0] if lines else "–"
    text = f"↳ {text}" if session.relation is Relation.SUBAGENT else text
    return text if len(text) <= limit else text[: limit - 1] + "…"


def names(flags: tuple[Flag, ...]) -> str:
    """Return the first flag, and how many more there are; one that only informs is in brackets."""
    ordered = sorted(flags, key=lambda flag: flag.level is not FlagLevel.WARN)
    shown = dict.fromkeys(
        flag.name if flag.level is FlagLevel.WARN else f"({flag.name})" for flag in ordered
    )
    if not shown:
        return "–"
    first, *others = shown
    return f"{first} +{len(others)}" if others else first


def place(session: Session) -> str:
    """Return the folder of a session by its last part."""
    return (session.repo or session.cwd or "–").rstrip("/").rpartition("/")[2] or "/"


def ended(session: Session) -> str:
    """Return when a session ended."""
    return "–" if session.ended_at is None else when(session.ended_at)


def took(session: Session) -> str:
    """Return how long a session went on."""
    if session.started_at is None or session.ended_at is None:
        return "–"
    return duration((session.ended_at - session.started_at).total_seconds())


def work(session: Session) -> str:
    """Return what a session did and what it took."""
    counts = session.counts
    failed = f" ({counts.failures:,} failed)" if counts.failures else ""
    parts = [
        counted(counts.turns, "turn"),
        counted(counts.calls, "call") + failed,
        f"{counted(counts.changed_files, 'file')} changed",
    ]
    total = None if session.tokens is None else session.tokens.total
    if total is not None:
        parts.append(f"{total:,} tokens")
    parts.append(money(session.cost_usd) if session.cost_usd is not None else "cost unknown")
    return ", ".join(parts)

"""Letting rules look at a session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from fairtrial.model.flag import Flag
from fairtrial.model.session import Session, SessionEvent
from fairtrial.ports.sessions import FlagRule


def flags_of(
    rules: Sequence[FlagRule], session: Session, events: Sequence[SessionEvent], now: datetime
) -> tuple[list[Flag], list[str]]:
    """Return what rules find in a session, and in words which of them failed.

    Args:
        rules: The rules.
        session: The session.
        events: All its events, in order.
        now: The moment of the ingest.
    """
    found: list[Flag] = []
    troubles: list[str] = []
    for rule in rules:
        try:
            found += rule.check(session, events, now)
        except Exception as error:  # noqa: BLE001  # a user's rule may fail in any way
            troubles.append(f"the flag rule {rule.name} failed at {session.id}: {error!r}")
    return found, troubles

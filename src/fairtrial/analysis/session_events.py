"""The events of a session's files in one order."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from fairtrial.model.session import SessionEvent, Usage

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


def in_order(files: Sequence[Iterable[SessionEvent]]) -> list[SessionEvent]:
    """Return the events of a session's files in one order, numbered from 1.

    The order within a file stays, whatever its times say; files are merged by the times so far. A
    model call whose tokens were told several times is there once, with the last ones.
    """
    if len(files) == 1:
        return _numbered(files[0])
    timed = [_timed(place, events) for place, events in enumerate(files)]
    return _numbered(event for _, _, event in heapq.merge(*timed, key=lambda found: found[:2]))


def _timed(
    place: int, events: Iterable[SessionEvent]
) -> Iterator[tuple[datetime, int, SessionEvent]]:
    latest = _LONG_AGO
    for event in events:
        if event.at is not None and event.at > latest:
            latest = event.at
        yield latest, place, event


def _numbered(events: Iterable[SessionEvent]) -> list[SessionEvent]:
    found: list[SessionEvent] = []
    usages: dict[str, int] = {}
    for event in events:
        if isinstance(event, Usage):
            place = usages.setdefault(event.message_id, len(found))
            if place < len(found):
                found[place] = replace(event, number=place + 1)
                continue
        # The events were just made and nobody else has them; a copy of each would take longer
        # than all the rest.
        object.__setattr__(event, "number", len(found) + 1)
        found.append(event)
    return found

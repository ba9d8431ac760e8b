"""The next request at decision points of a session, each as near to the real one as can be."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Final

from fairtrial.model.call import Api, WireCall
from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.next_turn import Fidelity, HarnessPlace, NextTurn
from fairtrial.model.session import MAIN, Call, Result, Session, SessionEvent, Usage
from fairtrial.ports.sessions import Clean, SessionReader
from fairtrial.sessions.decision_points.anchor import context
from fairtrial.sessions.requests import claude_code, codex, kept_events
from fairtrial.sessions.requests.logged import DAMAGE
from fairtrial.sessions.requests.moments import Told, read_again

CLAUDE_CODE: Final = "claude-code"
CODEX: Final = "codex"
APIS: Final[Mapping[str, Api]] = {
    CLAUDE_CODE: Api.ANTHROPIC_MESSAGES,
    CODEX: Api.OPENAI_RESPONSES,
}
"""The API that each agent's requests are for; of other agents they are made anew."""
_KINDS: Final = {CLAUDE_CODE: claude_code.KINDS, CODEX: codex.KINDS}


@dataclass(frozen=True, slots=True)
class Means:
    """What rebuilding needs.

    Attributes:
        reader: The reader of the session's agent.
        clean: Takes secrets out of what is kept.
        model: The model when the session tells of none.
        api: The API of requests that are made anew.
    """

    reader: SessionReader
    clean: Clean
    model: str
    api: Api


def next_turns(
    session: Session,
    events: Sequence[SessionEvent],
    points: Sequence[DecisionPoint],
    means: Means,
) -> list[NextTurn]:
    """Return the request that came next at each decision point of a session.

    Args:
        session: The session.
        events: All its events, in order.
        points: Decision points of it.
        means: What is needed for it.
    """
    known = [context(events, point) for point in points]
    moments = [
        None if point.thread != MAIN else _moment(told)
        for point, told in zip(points, known, strict=True)
    ]
    found, why = _read_again(session, [one for one in moments if one is not None], means)
    places = iter(() if found is None else found.places)
    turns = []
    for point, moment, told in zip(points, moments, known, strict=True):
        place = None if moment is None else next(places, None)
        turn = None
        if found is not None and place is not None:
            turn = _from(session, found, place, _model(session, told, means))
        if turn is None:
            reason = why or _why_not(point, moment, place)
            turn = _anew(session, told, means, reason)
        turns.append(_cleaned(turn, means.clean))
    return turns


def _read_again(
    session: Session, sought: Sequence[SessionEvent], means: Means
) -> tuple[Told | None, str]:
    """Return the transcript with the places of events, or why it cannot be had."""
    kinds = _KINDS.get(session.agent)
    if kinds is None:
        return None, f"requests of {session.agent} are not rebuilt from its transcripts"
    if not sought or not session.files:
        return None, ""
    try:
        return read_again(means.reader, session.files[0], sought, kinds, means.clean), ""
    except OSError as error:
        gone = isinstance(error, FileNotFoundError)
        reason = "is gone" if gone else f"cannot be read: {error.strerror or error}"
        return None, f"the transcript {reason}"


def _why_not(point: DecisionPoint, moment: SessionEvent | None, place: int | None) -> str:
    if point.thread != MAIN:
        return "it happened in a subagent, whose requests are not rebuilt"
    if moment is None:
        return "nothing was known at this moment"
    if place is not None:
        return "the records of the transcript have a form that is not known"
    return "this moment is not in the transcript any more"


def _moment(events: Sequence[SessionEvent]) -> SessionEvent | None:
    """Return the last event that has a record of its own: a result or a call, else the last."""
    tied = (event for event in reversed(events) if isinstance(event, Result | Call))
    return next(tied, events[-1] if events else None)


def _from(session: Session, found: Told, place: int, model: str) -> NextTurn | None:
    """Return the request by the transcript; None when its records are not what agents write."""
    try:
        turn = _told(session, found, place, model)
    except DAMAGE:
        return None
    return turn if turn.call.body.get("messages") or turn.call.body.get("input") else None


def _told(session: Session, found: Told, place: int, model: str) -> NextTurn:
    if session.agent == CODEX:
        call = codex.next_request(found.records, place, model)
        where = _place(session, codex.instruction_texts(call.body))
        return NextTurn(call, where, Fidelity.CONVERSATION, codex.ONLY_ITEMS)
    cwd = session.cwd or "."
    call, fidelity, why = claude_code.next_request(found.records, place, cwd, model)
    where = _place(session, claude_code.instruction_texts(call.body))
    return NextTurn(call, where, fidelity, why)


def _anew(session: Session, events: Sequence[SessionEvent], means: Means, why: str) -> NextTurn:
    api = APIS.get(session.agent, means.api)
    cwd = session.cwd or "."
    call = kept_events.next_request(events, cwd, _model(session, events, means), api)
    return NextTurn(call, _place(session, ()), Fidelity.NEAR, why)


def _model(session: Session, events: Sequence[SessionEvent], means: Means) -> str:
    """Return the model that worked at a moment, as near as is told; a session may change it."""
    if session.agent not in APIS:
        return means.model
    told = (event.model for event in reversed(events) if isinstance(event, Usage) and event.model)
    return next(told, session.models[-1] if session.models else means.model)


def _place(session: Session, at: tuple[tuple[str | int, ...], ...]) -> HarnessPlace:
    cwd = session.cwd or ""
    root = session.repo or cwd
    inside = os.path.relpath(cwd, root) if root and cwd else "."
    if inside.startswith(".."):
        inside = "."
    agent = session.agent if session.agent in APIS else CLAUDE_CODE
    return HarnessPlace(agent, root, PurePosixPath(inside).as_posix(), at)


def _cleaned(turn: NextTurn, clean: Clean) -> NextTurn:
    """Return a request without secrets: it is read from the transcript as it lies there."""
    words = json.dumps(turn.call.body, ensure_ascii=False).encode("utf-8", "replace")
    body: Mapping[str, Any] = json.loads(clean(words))
    call = turn.call
    return replace(turn, call=WireCall(call.api, body, call.headers))

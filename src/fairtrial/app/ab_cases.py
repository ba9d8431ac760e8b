"""Decision points as cases of a continuation task: each holds the request of its moment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice

from fairtrial.app.bench import Bench
from fairtrial.app.reports.decisions import DecisionLine, point_json
from fairtrial.app.session_syncing import redactor
from fairtrial.model.call import Api
from fairtrial.model.case import Case
from fairtrial.model.decision_point import DECISION
from fairtrial.model.json import Json
from fairtrial.model.next_turn import Fidelity, NextTurn
from fairtrial.model.session import SessionEvent, Usage
from fairtrial.sessions.decision_points.anchor import Anchor
from fairtrial.sessions.registry import readers
from fairtrial.sessions.requests.rebuilding import Means, next_turns

_CHARACTERS_A_TOKEN = 4
_SHORT_ID = 12
"""Characters of a session's id that name it, as lists of sessions show it."""


@dataclass(frozen=True, slots=True)
class AbCase:
    """A decision point, ready to be put to a model.

    Attributes:
        line: The decision point with its surroundings.
        turn: The request of its moment.
        case: Both as a case.
    """

    line: DecisionLine
    turn: NextTurn
    case: Case

    @property
    def behavior(self) -> str:
        """The behaviour it is an example of."""
        return self.line.point.behavior

    @property
    def read_tokens(self) -> int:
        """How many tokens its request has: as recorded, else by its length."""
        told = self.case.metadata["tokens"]
        if isinstance(told, Mapping) and told.get("input") is not None:
            return sum(int(told.get(name) or 0) for name in ("input", "cache_read", "cache_write"))
        return len(json.dumps(self.turn.call.body)) // _CHARACTERS_A_TOKEN

    @property
    def fidelity(self) -> Fidelity:
        """How near the request is to the one that was sent."""
        return self.turn.fidelity


@dataclass(frozen=True, slots=True)
class Asked:
    """What requests are made with where a session does not tell.

    Attributes:
        model: The model that was named; None keeps the recorded one.
        otherwise: The model of sessions that tell of none that can be asked.
        api: The API of requests that are made anew.
    """

    model: str | None
    otherwise: str
    api: Api


def ab_cases(
    bench: Bench, lines: Sequence[DecisionLine], anchors: Sequence[Anchor], asked: Asked
) -> list[AbCase]:
    """Return decision points as cases, in their order.

    Args:
        bench: The bench.
        lines: Decision points of any sessions.
        anchors: What found them; a behaviour of the user's own brings its rubric.
        asked: What is asked where a session does not tell.

    Raises:
        StoreError: the events of a session are damaged.
        UsageError: the user's rules of secrets cannot be read.
    """
    rubrics = {anchor.name: anchor.rubric for anchor in anchors}
    clean = redactor(bench).body
    found: dict[int, AbCase] = {}
    for places in _by_session(lines).values():
        session = lines[places[0]].session
        events = bench.store.sessions.events(session.id)
        (reader,) = readers([session.agent])
        means = Means(reader, clean, asked.model or asked.otherwise, asked.api)
        points = [lines[place].point for place in places]
        turns = next_turns(session, events, points, means)
        for place, turn in zip(places, turns, strict=True):
            line = lines[place]
            case = _case(line, turn, rubrics[line.point.behavior], _usage(events, line))
            found[place] = AbCase(line, turn, case)
    return [found[place] for place in sorted(found)]


def _by_session(lines: Sequence[DecisionLine]) -> Mapping[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, line in enumerate(lines):
        places.setdefault(line.session.id, []).append(place)
    return places


def _usage(events: Sequence[SessionEvent], line: DecisionLine) -> Json:
    """Return the tokens of the call that the agent's choice came of; None when none is told."""
    after = islice(events, line.point.after, None)
    found = (
        event.tokens
        for event in after
        if isinstance(event, Usage) and event.thread == line.point.thread
    )
    tokens = next(found, None)
    return None if tokens is None else asdict(tokens)


def _case(line: DecisionLine, turn: NextTurn, rubric: str, tokens: Json) -> Case:
    point, session = line.point, line.session
    given: dict[str, Json] = {
        "api": turn.call.api.value,
        "body": dict(turn.call.body),
        "headers": dict(turn.call.headers),
        "harness": turn.place.content(),
    }
    metadata: dict[str, Json] = {
        DECISION: {**point_json(point), "rubric": rubric},
        "session": session.id,
        "agent": session.agent,
        "repo": session.repo,
        "fidelity": turn.fidelity.value,
        "fidelity_why": turn.why,
        "tokens": tokens,
    }
    tags = (point.behavior, "bad" if point.bad else "good")
    name = f"{session.id[:_SHORT_ID]}-{point.after}-{point.behavior}"
    return Case(name, given, None, metadata, tags)


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Decision points that are not put to a model, and why.

    Attributes:
        why: In one line.
        cases: Ids of their cases.
    """

    why: str
    cases: Sequence[str] = field(default_factory=tuple)

"""Choosing decision points of captured sessions: newest first, each once, bad and good ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.decision_options import DecisionSelection
from fairtrial.app.reports.decisions import DecisionLine
from fairtrial.app.session_filters import session_query
from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.errors import UsageError
from fairtrial.model.events import FilesRead
from fairtrial.model.session import Session
from fairtrial.ports.sessions import FlaggedSession, SessionQuery
from fairtrial.sessions.decision_points.anchor import Anchor, context
from fairtrial.sessions.decision_points.finding import AnchorFailure, choice, points_of
from fairtrial.sessions.decision_points.registry import anchors
from fairtrial.sessions.decision_points.sameness import keys

EVERY_REPOSITORY: Final = Path("all")
_PAGE: Final = 50
_LARGE: Final = 48 * 1024 * 1024
"""Bytes of the events of a session of which long texts are cut; as flags see it."""


class Sought(StrEnum):
    """Which decision points are wanted."""

    BAD = "bad"
    GOOD = "good"
    BOTH = "both"
    """The bad ones, and of each behaviour as many good ones, up to half of the limit."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decision points that were chosen.

    Attributes:
        anchors: What was looked for.
        chosen: The newest first.
        more: Whether there may be further ones beyond the limit.
        sessions: How many sessions were looked at.
        other_agents: Agents of sessions that were passed over for their agent.
        failures: Where anchors of the user failed.
        broken: Names of the anchors that failed at every session.
    """

    anchors: Sequence[Anchor]
    chosen: Sequence[DecisionLine]
    more: bool
    sessions: int
    other_agents: Sequence[str] = ()
    failures: Sequence[AnchorFailure] = ()
    broken: Sequence[str] = ()


def decisions(
    bench: Bench,
    selection: DecisionSelection,
    sought: Sought,
    *,
    where: str | None = None,
    refs: Sequence[str] = (),
) -> Decisions:
    """Return decision points of sessions, the newest first.

    Args:
        bench: The bench.
        selection: Which are taken.
        sought: Whether those where agents chose badly, well, or both.
        where: A filter of sessions.
        refs: Only these sessions, whenever they ended.

    Raises:
        UsageError: there is no such behaviour, an anchor's module cannot be used, or the filter or
            the time is not understood.
        NotFoundError: there is no such file, or a reference names no session, or several.
        StoreError: the events of a session are damaged.
    """
    names = [name for given in selection.behavior for name in _split(given, "--behavior")]
    files = [bench.path(file) for file in selection.anchor]
    looking = _Looking(bench, selection.limit, sought, anchors(names, files))
    agents = {name for given in selection.agent for name in _split(given, "--agent")}
    others: set[str] = set()
    planned = len(refs) or len(bench.store.sessions.ids(_query(bench, selection, where), None))
    for seen, found in enumerate(_sessions(bench, selection, where, refs)):
        bench.publish(FilesRead(seen, planned))
        if agents and found.session.agent not in agents:
            others.add(found.session.agent)
            continue
        if looking.has_enough():
            looking.more = True
            break
        looking.look(found.session)
    chosen = looking.chosen()
    return Decisions(
        anchors=looking.anchors,
        chosen=chosen,
        more=looking.more,
        sessions=looking.sessions,
        other_agents=sorted(others),
        failures=looking.failures,
        broken=looking.broken(),
    )


def _split(given: str, flag: str) -> list[str]:
    found = [part.strip() for part in given.split(",") if part.strip()]
    if not found:
        raise UsageError(f"{flag} names none", fix="leave it out to take all")
    return found


def _sessions(
    bench: Bench, selection: DecisionSelection, where: str | None, refs: Sequence[str]
) -> Iterator[FlaggedSession]:
    store = bench.store.sessions
    query = _query(bench, selection, where)
    if refs:
        named = dict.fromkeys(store.find(ref).session.id for ref in refs)
        if where is not None:
            fitting = set(store.ids(replace(query, since=None), None))
            named = dict.fromkeys(one for one in named if one in fitting)
        found: Iterator[FlaggedSession] = iter(store.many(list(named)))
    else:
        found = _newest(bench, query)
    if selection.repo in (None, EVERY_REPOSITORY):
        return found
    # What makes eval tasks is imported with it, and most lists are of all repositories.
    from fairtrial.app.eval_drafting import repository_of, sessions_of  # noqa: PLC0415

    return sessions_of(found, repository_of(bench, selection.repo), bench.home)


def _query(bench: Bench, selection: DecisionSelection, where: str | None) -> SessionQuery:
    return session_query(bench, where, selection.since, _PAGE)


def _newest(bench: Bench, query: SessionQuery) -> Iterator[FlaggedSession]:
    before: str | None = None
    while True:
        page = bench.store.sessions.newest(replace(query, before=before))
        yield from page
        if len(page) < _PAGE:
            return
        before = page[-1].session.id


@dataclass
class _Looking:
    """What was found so far."""

    bench: Bench
    limit: int
    sought: Sought
    anchors: Sequence[Anchor]
    sessions: int = 0
    more: bool = False
    failures: list[AnchorFailure] = field(default_factory=list)
    _kept: dict[bytes, DecisionLine] = field(default_factory=dict)
    _same: Counter[bytes] = field(default_factory=Counter)
    _counts: Counter[tuple[str, bool]] = field(default_factory=Counter)

    def look(self, session: Session) -> None:
        """Take the points of a session, the last first."""
        store = self.bench.store.sessions
        large = store.sizes([session.id]).get(session.id, 0) > _LARGE
        events = store.events(session.id, brief=large)
        points, failures = points_of(self.anchors, session, events)
        self.failures += failures
        self.sessions += 1
        for point, key in reversed(list(zip(points, keys(session, events, points), strict=True))):
            if not self._wanted(point):
                continue
            kind = (point.behavior, point.bad)
            if key in self._kept:
                self._same[key] += 1
            elif self._counts[kind] >= self.limit:
                self.more |= self.sought is not Sought.BOTH or point.bad
            else:
                self._counts[kind] += 1
                known, did = context(events, point), choice(events, point)
                self._kept[key] = DecisionLine(session, point, known, did)

    def _wanted(self, point: DecisionPoint) -> bool:
        return self.sought is Sought.BOTH or point.bad is (self.sought is Sought.BAD)

    def has_enough(self) -> bool:
        """Return whether no further session can change what is chosen."""
        if self.sought is not Sought.BOTH:
            return len(self._kept) >= self.limit
        chosen, alone = self._paired()
        return len(chosen) >= self.limit and not alone

    def _paired(self) -> tuple[list[bytes], int]:
        """Return the newest bad points, each with a good one, and how many have none yet."""
        good: dict[str, list[bytes]] = {}
        for key, one in reversed(self._kept.items()):
            if not one.point.bad:
                good.setdefault(one.point.behavior, []).append(key)
        chosen: list[bytes] = []
        alone = 0
        for key, one in self._kept.items():
            if len(chosen) >= self.limit:
                break
            if one.point.bad:
                chosen.append(key)
                beside = good.get(one.point.behavior)
                if beside and len(chosen) < self.limit:
                    chosen.append(beside.pop())
                else:
                    alone += len(chosen) < self.limit
        return chosen, alone

    def chosen(self) -> list[DecisionLine]:
        """Return what is chosen, the newest first."""
        if self.sought is Sought.BOTH:
            taken = set(self._paired()[0])
            bad = sum(one.point.bad for one in self._kept.values())
            self.more |= bad > sum(self._kept[key].point.bad for key in taken)
        else:
            taken = set(list(self._kept)[: self.limit])
        return [
            replace(one, same=self._same[key]) for key, one in self._kept.items() if key in taken
        ]

    def broken(self) -> list[str]:
        """Return the names of the anchors that failed at every session."""
        failed = Counter(failure.anchor for failure in self.failures)
        return [name for name, count in failed.items() if count == self.sessions]

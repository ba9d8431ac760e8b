"""What changed in the store between two looks: for whoever watches it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fairtrial.app.bench import Bench
from fairtrial.app.exp_list import exp_list
from fairtrial.app.requests.exp_list import Request as ExperimentsRequest
from fairtrial.app.requests.sessions_list import Request as SessionsRequest
from fairtrial.app.sessions_list import sessions_list
from fairtrial.model.json import Json

_LOOKED_AT: Final = 100
"""How many of the newest of each kind are compared."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something that is new or differs.

    Attributes:
        kind: `experiment` or `session`.
        facts: As lists have it.
    """

    kind: str
    facts: Mapping[str, Json]


class Changes:
    """Compares the newest experiments and sessions with those of the last look."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._watch = bench.store.watch()
        self._number: int | None = None
        self._known: Mapping[tuple[str, str], Mapping[str, Json]] = {}

    def look(self) -> Sequence[Change]:
        """Return what changed since the last look, the oldest first; the first look finds nothing.

        Raises:
            StoreError: the store cannot be read.
        """
        self._bench.store.check()
        number, first = self._watch.number(), self._number is None
        if number == self._number:
            return ()
        found = self._found()
        changed = [
            Change(kind, facts)
            for (kind, name), facts in reversed(found.items())
            if self._known.get((kind, name)) != facts
        ]
        self._number, self._known = number, found
        return () if first else changed

    def close(self) -> None:
        """Look no more."""
        self._watch.close()

    def _found(self) -> dict[tuple[str, str], Mapping[str, Json]]:
        experiments: Any = exp_list(self._bench, ExperimentsRequest(limit=_LOOKED_AT)).json()
        sessions: Any = sessions_list(self._bench, SessionsRequest(limit=_LOOKED_AT)).json()
        found = {("session", one["id"]): one for one in sessions["sessions"]}
        return found | {("experiment", one["id"]): one for one in experiments["experiments"]}

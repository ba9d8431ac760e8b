"""What keeps work that spans several experiments: sweeps and logbooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from fairtrial.model.json import Json
from fairtrial.model.logbook import Logbook, LogbookEntry
from fairtrial.model.sweep import Sweep


class SweepStore(Protocol):
    """Keeps sweeps."""

    def begin(self, sweep: Sweep) -> None:
        """Keep a sweep that begins.

        Raises:
            StoreError: one of this id is kept already.
        """
        ...

    def finish(
        self, sweep_id: str, result: Mapping[str, Json], adopted: str | None, now: datetime
    ) -> None:
        """Keep what a sweep came to; an earlier result is replaced.

        Raises:
            NotFoundError: there is no such sweep.
        """
        ...

    def get(self, sweep_id: str) -> Sweep | None:
        """Return the sweep whose race has this id; None when there is none."""
        ...

    def unfinished(self, identity: str | None = None) -> Sequence[Sweep]:
        """Return the sweeps that are not over, newest first; those of one identity."""
        ...

    def adopting(self) -> Sequence[Sweep]:
        """Return the sweeps that adopted a configuration, newest first."""
        ...


class LogbookStore(Protocol):
    """Keeps logbooks; a project has at most one that is open."""

    def open(self, project: str, name: str, now: datetime) -> Logbook:
        """Open a logbook of a project, and close the one that was open."""
        ...

    def current(self, project: str) -> Logbook | None:
        """Return the open logbook of a project; None when none is."""
        ...

    def named(self, project: str, name: str) -> Logbook | None:
        """Return the newest logbook of a project with a name, or with an id; None without one."""
        ...

    def note(self, logbook_id: str, text: str, now: datetime) -> None:
        """Add a note.

        Raises:
            NotFoundError: there is no such logbook.
        """
        ...

    def add_run(self, logbook_id: str, experiment_id: str, now: datetime) -> None:
        """Add a run; one that is there already stays where it is.

        Raises:
            NotFoundError: there is no such logbook.
        """
        ...

    def entries(self, logbook_id: str) -> Sequence[LogbookEntry]:
        """Return the entries of a logbook, oldest first."""
        ...

"""A logbook: the timeline of someone's work on a project, notes and runs. Users say session."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Logbook:
    """A logbook without its entries.

    Attributes:
        id: `log_` and a ULID.
        project: The folder of the project.
        name: What the work is about.
        created_at: When it was opened (UTC).
        closed_at: When the next one was opened (UTC); None while it is open.
    """

    id: str
    project: str
    name: str
    created_at: datetime
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LogbookEntry:
    """A note, or a run.

    Attributes:
        at: When (UTC).
        note: The note; None for a run.
        experiment: The id of the experiment that ran; None for a note.
    """

    at: datetime
    note: str | None = None
    experiment: str | None = None

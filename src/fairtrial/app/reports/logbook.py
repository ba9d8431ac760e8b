"""What `exp session` says, and a run that is in a session."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from fairtrial.analysis.run_delta import RunDelta
from fairtrial.analysis.tried import Tried
from fairtrial.app.reports.facts import rate_json
from fairtrial.app.reports.informing import Informing
from fairtrial.interchange.experiment_exports.export import timestamp
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.json import Json
from fairtrial.model.logbook import Logbook
from fairtrial.stats.proportion import Rate


@dataclass(frozen=True, slots=True)
class RunInLogbook:
    """A run that has just joined a logbook.

    Attributes:
        logbook: The logbook.
        number: Which run of it this is, from 1.
        delta: What changed since the run before; None when there is none to compare with.
    """

    logbook: Logbook
    number: int
    delta: RunDelta | None

    def sentence(self) -> str:
        """Return it as one line."""
        head = f"Session {self.logbook.name}, run {self.number}"
        if self.delta is None:
            return f"{head}: nothing to compare with yet"
        return f"{head} {self.delta.sentence()}"

    def content(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        return {
            "session": self.logbook.id,
            "name": self.logbook.name,
            "run": self.number,
            "delta": None if self.delta is None else self.delta.content(),
        }


@dataclass(frozen=True, slots=True)
class Noted:
    """A note of a logbook: when, and what it says."""

    at: datetime
    text: str

    def content(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        return {"at": timestamp(self.at), "note": self.text, "run": None}


@dataclass(frozen=True, slots=True)
class Ran:
    """A run of a logbook.

    Attributes:
        at: When it joined.
        number: Which run of the logbook it is, from 1.
        state: The experiment and where it stands.
        rate: The pass rate of its last arm.
        delta: What changed since the run before; None when there is none to compare with.
    """

    at: datetime
    number: int
    state: ExperimentState
    rate: Rate
    delta: RunDelta | None

    def content(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        experiment = self.state.experiment
        run = {
            "number": self.number,
            "id": experiment.id,
            "name": experiment.name,
            "dataset": experiment.dataset_ref,
            "status": self.state.status.value,
            "pass_rate": rate_json(self.rate),
            "delta": None if self.delta is None else self.delta.content(),
        }
        return {"at": timestamp(self.at), "note": None, "run": run}


@dataclass(frozen=True, slots=True)
class LogbookReport(Informing):
    """A logbook, and what was done to it.

    Attributes:
        action: `new`, `note` or `summary`.
        logbook: The logbook.
        entries: With summary: its notes and runs, oldest first.
        tried: With summary: what was tried on each dataset of its runs.
    """

    schema: ClassVar[str] = "fairtrial.logbook/1"

    action: str
    logbook: Logbook
    entries: tuple[Noted | Ran, ...] = ()
    tried: tuple[Tried, ...] = ()

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        book = self.logbook
        return {
            "schema": self.schema,
            "action": self.action,
            "id": book.id,
            "name": book.name,
            "project": book.project,
            "created_at": timestamp(book.created_at),
            "closed_at": None if book.closed_at is None else timestamp(book.closed_at),
            "entries": [entry.content() for entry in self.entries],
            "tried": [one.content() for one in self.tried],
        }

"""Sending what was read of a run, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from ulid import ULID

from fairtrial.app.pushing.bars import Bars
from fairtrial.app.pushing.bodies import short_text
from fairtrial.app.pushing.destinations import Destination, batches, key_of, read_body
from fairtrial.app.pushing.spool import Spool
from fairtrial.app.reported_bodies import NewExperiment, RowBatch
from fairtrial.interchange.results.contract import FoundRun, Notes
from fairtrial.model.errors import ConflictError, FairtrialError, RefusedError, UsageError
from fairtrial.model.experiment import Status
from fairtrial.model.json import Json

_LEFT_OUT: Final = "(larger than a server takes: left out)"


@dataclass(frozen=True, slots=True)
class Parcel:
    """All that there is of a run.

    Attributes:
        told: What opens its experiment.
        spool: Its trials.
        bars: What decides them.
        run: What the tool says of it.
        notes: Counts what does not fit.
        sessions: Ids of sessions by their transcripts.
    """

    told: Mapping[str, Json]
    spool: Spool
    bars: Bars
    run: FoundRun
    notes: Notes
    sessions: Mapping[str, str] = field(default_factory=dict)

    @property
    def matched(self) -> bool:
        """Whether its rows are matched with stored cases."""
        return "dataset_version" in self.told

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield its rows as the API takes them."""
        return self.spool.rows(self.bars, self.sessions, matched=self.matched)


def look_at(parcel: Parcel) -> None:
    """Check that all would be taken, and write nothing.

    Raises:
        UsageError: it would not.
    """
    read_body(NewExperiment, msgspec.json.encode(parcel.told))
    for _, body in batches(msgspec.json.encode(row) for row in parcel.rows()):
        read_body(RowBatch, body)


def send(parcel: Parcel, destination: Destination) -> tuple[Mapping[str, Json], bool]:
    """Send a run; return how its experiment stands, and whether it was there whole already.

    What was sent before a connection broke is known when it is sent again.

    Raises:
        FairtrialError: it is not taken.
    """
    opening = msgspec.json.encode(parcel.told)
    anew = None if "content" in parcel.told else f"push-{ULID()}"
    standing = destination.open(opening, anew)
    if standing["again"] and standing["status"] != Status.RUNNING:
        return standing, True
    experiment = str(standing["id"])
    largest = destination.largest_row()
    try:
        for _, body in batches(_fitting(row, largest, parcel.notes) for row in parcel.rows()):
            destination.take(experiment, body, key_of(body))
    except (ConflictError, UsageError) as error:
        # Sending it again would not help, so nobody waits for the rest.
        with suppress(FairtrialError):
            destination.finish(experiment, _ending("stopped", error.what))
        if isinstance(error, RefusedError) and standing["again"]:
            error.fix = "make a new experiment of it: --again"
        raise
    return destination.finish(experiment, _how_it_ended(parcel)), False


def _how_it_ended(parcel: Parcel) -> bytes:
    run, lost = parcel.run, parcel.notes.lost
    if run.ending == "finished" and lost:
        return _ending("stopped", f"{lost:,} of its trials could not be read")
    return _ending(run.ending, run.why)


def _ending(status: str, reason: str | None) -> bytes:
    told = {"status": status}
    if reason and status != "finished":
        told["reason"] = short_text(reason)
    return msgspec.json.encode(told)


def _fitting(row: dict[str, Any], largest: int | None, notes: Notes) -> bytes:
    """Return a row that is not too large; its spans go first, then its output."""
    data = msgspec.json.encode(row)
    for part, instead in (("spans", []), ("output", _LEFT_OUT)):
        if largest is None or len(data) <= largest:
            return data
        notes.add(f"trials whose {part} is larger than a server takes: left out", _case(row))
        row[part] = instead
        data = msgspec.json.encode(row)
    if largest is not None and len(data) > largest:
        raise UsageError("the case is larger than a server takes", where=_case(row))
    return data


def _case(row: Mapping[str, Any]) -> str:
    return f"case {row.get('id', '')}"

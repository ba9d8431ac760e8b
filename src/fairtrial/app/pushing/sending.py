"""Sending what was read of a run, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
        read_sessions: Reads the sessions that its trials were; returns their ids by transcript.
    """

    told: Mapping[str, Json]
    spool: Spool
    bars: Bars
    run: FoundRun
    notes: Notes
    read_sessions: Callable[[], Mapping[str, str]] = dict

    @property
    def matched(self) -> bool:
        """Whether its rows are matched with stored cases."""
        return "dataset_version" in self.told

    def rows(self, sessions: Mapping[str, str], notes: Notes) -> Iterator[dict[str, Any]]:
        """Yield its rows as the API takes them, and count what does not fit."""
        return self.spool.rows(self.bars, sessions, notes, matched=self.matched)


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of a run.

    Attributes:
        standing: How its experiment stands.
        again: It was there whole already.
        sessions: Ids of the sessions that came with it.
    """

    standing: Mapping[str, Json]
    again: bool = False
    sessions: Sequence[str] = ()


def look_at(parcel: Parcel, notes: Notes) -> None:
    """Check that all would be taken, and write nothing.

    Args:
        parcel: All that there is of a run.
        notes: Counts what does not fit.

    Raises:
        UsageError: it would not.
    """
    read_body(NewExperiment, msgspec.json.encode(parcel.told))
    for _, body in batches(msgspec.json.encode(row) for row in parcel.rows({}, notes)):
        read_body(RowBatch, body)


def send(parcel: Parcel, destination: Destination) -> Sent:
    """Send a run.

    What was sent before a connection broke is known when it is sent again.

    Raises:
        FairtrialError: it is not taken.
    """
    look_at(parcel, Notes())
    opening = msgspec.json.encode(parcel.told)
    anew = None if "content" in parcel.told else f"push-{ULID()}"
    standing = destination.open(opening, anew)
    if standing["again"] and standing["status"] != Status.RUNNING:
        return Sent(standing, again=True)
    sessions = parcel.read_sessions()
    experiment = str(standing["id"])
    largest = destination.largest_row()
    try:
        rows = (_fitting(row, largest, parcel.notes) for row in parcel.rows(sessions, parcel.notes))
        for _, body in batches(rows):
            destination.take(experiment, body, key_of(body))
    except (ConflictError, UsageError) as error:
        # Sending it again would not help, so nobody waits for the rest.
        with suppress(FairtrialError):
            destination.finish(experiment, _ending("stopped", error.what))
        if isinstance(error, RefusedError) and standing["again"]:
            error.fix = "make a new experiment of it: --again"
        raise
    ended = destination.finish(experiment, _how_it_ended(parcel))
    return Sent(ended, sessions=sorted(set(sessions.values())))


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

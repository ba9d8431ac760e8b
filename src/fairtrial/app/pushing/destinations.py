"""Where an experiment that is reported goes: this store, or a server. Both take the same bodies."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol

import msgspec

from fairtrial.app.bench import Bench
from fairtrial.app.projects import HERE
from fairtrial.app.reported_bodies import Finish, NewExperiment, RowBatch, body_of
from fairtrial.app.reporting import finish_reported, open_reported, take_rows
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.model.reported import Receipt

_MOST_ROWS: Final = 500
_MOST_BYTES: Final = 4 * 1024 * 1024


class Destination(Protocol):
    """Takes an experiment in the bodies of the API; each call may be made again."""

    def open(self, body: bytes, key: str | None) -> dict[str, Json]:
        """Open an experiment, or find the one that has the same content; return how it stands."""
        ...

    def take(self, experiment: str, body: bytes, key: str) -> None:
        """Store rows, all of them or none."""
        ...

    def finish(self, experiment: str, body: bytes) -> dict[str, Json]:
        """End an experiment; return how it stands."""
        ...

    def largest_row(self) -> int | None:
        """Return how many bytes a row may have; None is any number."""
        ...


class ThisStore:
    """The store of this machine."""

    def __init__(self, bench: Bench, project: str | None) -> None:
        self._bench = bench
        self._project = project or HERE

    def open(self, body: bytes, key: str | None) -> dict[str, Json]:
        """See `Destination.open`."""
        request = read_body(NewExperiment, body)
        return open_reported(self._bench, request, _receipt(key, body), self._project).json()

    def take(self, experiment: str, body: bytes, key: str) -> None:
        """See `Destination.take`."""
        take_rows(self._bench, experiment, read_body(RowBatch, body), _receipt(key, body))

    def finish(self, experiment: str, body: bytes) -> dict[str, Json]:
        """See `Destination.finish`."""
        return finish_reported(self._bench, experiment, read_body(Finish, body)).json()

    def largest_row(self) -> int | None:
        """See `Destination.largest_row`."""
        return None


def batches(rows: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield bodies of batches, with how many rows each has."""
    batch: list[bytes] = []
    size = 0
    for row in rows:
        if batch and (len(batch) == _MOST_ROWS or size + len(row) > _MOST_BYTES):
            yield len(batch), _body(batch)
            batch, size = [], 0
        batch.append(row)
        size += len(row)
    if batch:
        yield len(batch), _body(batch)


def key_of(body: bytes) -> str:
    """Return the key under which a body is sent: the same for the same body."""
    return f"push-{hashlib.sha256(body).hexdigest()[:40]}"


def _body(rows: list[bytes]) -> bytes:
    return b'{"rows":[' + b",".join(rows) + b"]}"


def _receipt(key: str | None, body: bytes) -> Receipt | None:
    return None if key is None else Receipt(key, hashlib.sha256(body).digest())


def read_body(kind: type[Any], body: bytes) -> Any:
    """Return what a body says.

    Raises:
        UsageError: it does not fit.
    """
    try:
        return body_of(kind, body)
    except msgspec.ValidationError as error:
        raise UsageError(str(error).replace("`", "'"), where="what was read") from None

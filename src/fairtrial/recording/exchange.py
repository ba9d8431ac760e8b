"""One request and its answer, as their bytes went by."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from fairtrial.model.call import Api
from fairtrial.model.recorded_call import CallBody, RecordedCall

Headers: TypeAlias = list[tuple[bytes, bytes]]

SESSION_HEADER = b"x-fairtrial-session"
"""A client may say with it which session its calls belong to; it is not passed on."""

CANCELLED = "cancelled by the client"
"""The problem of a call whose client left."""

LARGEST_KEPT = 64 * 1024 * 1024
"""Bytes of one body that are kept; all of it is passed on."""


@dataclass(frozen=True, slots=True)
class ServedAnswer:
    """A recorded answer to be served again instead of asking the upstream.

    Attributes:
        call: The recorded call that it answered.
        body: Its payloads.
    """

    call: RecordedCall
    body: CallBody


@dataclass(frozen=True, slots=True)
class DescribedRequest:
    """What a request says, worked out while its answer is awaited.

    Attributes:
        api: The wire format; None for another path of the API.
        session: What the client calls its session; None when it does not say.
        agent: The coding agent; None for another client.
        model: The model asked for.
        canonical: Hash of its canonical form.
        headers: As they are stored.
        body: As it is stored.
        credentials: What it was made with, to be looked for in the answer.
    """

    api: Api | None
    session: str | None
    agent: str | None
    model: str | None
    canonical: str | None
    headers: tuple[tuple[str, str], ...]
    body: bytes
    credentials: tuple[bytes, ...]


@dataclass(slots=True)
class Payload:
    """The bytes of one body: how many there were, and those that are kept."""

    chunks: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self.size += len(data)
        left = LARGEST_KEPT - self.size + len(data)
        if left > 0:
            self.chunks.append(data if len(data) <= left else data[:left])

    @property
    def is_cut(self) -> bool:
        """Whether only its beginning is kept."""
        return self.size > LARGEST_KEPT

    def joined(self) -> bytes:
        """Return what is kept."""
        return b"".join(self.chunks)


@dataclass(slots=True)
class Exchange:
    """What was seen of one call; filled in as it happens and read once it is over.

    Attributes:
        method: HTTP method.
        target: Path and query, without the token of a trial.
        headers: Of the request, in the order they came.
        upstream: Base URL that it goes to.
        started_at: When its head was whole (UTC).
        started: The same, in seconds that only grow.
        token: Names the trial that made it.
        request: Its body.
        status: Status of the answer; None when none came.
        response_headers: Of the answer.
        response: The answer's body in its content coding, without its transfer coding.
        first_byte: When the first byte of the answer's body came.
        ended: When it was over.
        problem: Why there is no whole answer.
        served: The recorded answer that it got.
        described: Its request, once somebody has looked at it.
        place: The session that it is kept under, and its number there or in its trial.
        recorded: It was handed to the store.
    """

    method: str
    target: str
    headers: Headers
    upstream: str
    started_at: datetime
    started: float
    token: str | None = None
    request: Payload = field(default_factory=Payload)
    status: int | None = None
    response_headers: Headers = field(default_factory=list)
    response: Payload = field(default_factory=Payload)
    first_byte: float | None = None
    ended: float | None = None
    problem: str | None = None
    served: ServedAnswer | None = None
    described: DescribedRequest | None = None
    place: tuple[str, int] | None = None
    recorded: bool = False


def header(headers: Headers, name: bytes) -> bytes | None:
    """Return the first value of a header, whose name is given in lower case."""
    return next((value for key, value in headers if key.lower() == name), None)

"""What the connections of a proxy share, and the requests that a client makes in turn."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from fairtrial.ports import Clock
from fairtrial.recording.answers import Refusal
from fairtrial.recording.exchange import DescribedRequest, Exchange, ServedAnswer
from fairtrial.recording.routing import Origin, Upstreams

AnswerFrom: TypeAlias = Callable[[str, DescribedRequest], Awaitable[ServedAnswer | None]]
"""Given a trial's token and its request: the recorded answer to serve, or None to ask upstream."""


class Client(Protocol):
    """A client's connection, as the proxy that accepted it sees it."""

    @property
    def busy(self) -> bool:
        """Whether a request is under way."""
        ...

    def calls_as(self, token: str) -> bool:
        """Return whether a request of a trial is under way."""
        ...

    def close_idle(self) -> None:
        """End the connection if nothing goes on in it."""
        ...

    def end(self, problem: str) -> None:
        """End the connection, whatever goes on in it; `problem` is recorded of that."""
        ...


@dataclass
class Shared:
    """What all connections of a proxy share.

    Attributes:
        upstreams: Where requests go.
        bound: The host that is listened on.
        clock: Time.
        tls: How upstreams are spoken to over TLS; None when none is.
        describe: Reads a request that is whole.
        record: Takes an exchange when its request is whole, and again when it is over.
        refused: Takes each request that is not passed on.
        tokens: Names of the trials that may call.
        answer_from: Where answers of trials come from, if not from upstream.
        connections: All clients.
    """

    upstreams: Upstreams
    bound: str
    clock: Clock
    tls: ssl.SSLContext | None
    describe: Callable[[Exchange], DescribedRequest]
    record: Callable[[Exchange], None]
    refused: Callable[[str, Refusal], None]
    answer_from: AnswerFrom | None = None
    tokens: set[str] = field(default_factory=set)
    connections: set[Client] = field(default_factory=set)


@dataclass(slots=True)
class Turn:
    """A request of a client, from its head to the end of its answer.

    Attributes:
        exchange: What is recorded of it; None when it is refused.
        refusal: Why it is refused.
        head: What is sent upstream before the body.
        origin: Where it goes.
        chunked: Its body is sent in chunks.
        keep: The client takes further answers on this connection.
        unsent: Bytes of the body that wait for the upstream.
        whole: Its body has come to its end.
        answered: So has its answer.
    """

    exchange: Exchange | None
    refusal: Refusal | None
    head: bytes
    origin: Origin | None
    chunked: bool
    keep: bool
    unsent: list[bytes] = field(default_factory=list)
    n_unsent: int = 0
    whole: bool = False
    answered: bool = False

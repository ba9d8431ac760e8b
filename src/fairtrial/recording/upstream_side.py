"""The connection to an upstream: what comes from it goes to the client at once, and is noted."""

from __future__ import annotations

import asyncio
from typing import Protocol

from httptools import (
    HttpParserCallbackError,
    HttpParserError,
    HttpParserUpgrade,
    HttpResponseParser,
)

from fairtrial.recording.exchange import Exchange
from fairtrial.recording.routing import Origin

_NO_BODY = frozenset({204, 304})


class Downstream(Protocol):
    """The client's side, as the upstream's side sees it."""

    def monotonic(self) -> float:
        """Return the time."""
        ...

    def pass_back(self, data: bytes) -> None:
        """Send bytes of the answer to the client."""
        ...

    def answered(self, *, keep: bool) -> None:
        """Take note that the answer is whole; without `keep` the upstream takes no other."""
        ...

    def upstream_ended(self, problem: str | None) -> None:
        """Take note that the connection is gone; `problem` says why, if within an answer."""
        ...

    def pause_request(self) -> None:
        """Read no more from the client for now."""
        ...

    def resume_request(self) -> None:
        """Read on from the client."""
        ...


class UpstreamConnection(asyncio.Protocol):
    """One connection to an upstream; it serves one client's connection and ends with it."""

    transport: asyncio.Transport
    _parser: HttpResponseParser

    def __init__(self, origin: Origin, downstream: Downstream) -> None:
        self.origin = origin
        self._downstream = downstream
        self._exchange: Exchange | None = None
        self._in_head = True
        self._until_close = False
        self._aborted = False

    # What the client's side asks for.

    def begin(self, exchange: Exchange, head: bytes) -> None:
        """Send the head of a request; its answer goes into the exchange."""
        self._exchange = exchange
        self._parser = HttpResponseParser(self)
        self._in_head = True
        self.transport.write(head)

    @property
    def usable(self) -> bool:
        """Whether a further request can be sent."""
        return self._exchange is None and not self.transport.is_closing()

    def abort(self) -> None:
        """End the connection at once, which cancels what the upstream is doing."""
        self._exchange = None
        self._aborted = True
        self.transport.abort()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  # TCP always is
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Pass bytes on, then look at what they were."""
        exchange = self._exchange
        if exchange is None:  # nobody asked: it says why it closes an idle connection
            self.transport.abort()
            return
        self._downstream.pass_back(data)
        try:
            self._parser.feed_data(data)
        except HttpParserCallbackError:
            raise  # a defect, not the upstream's
        except HttpParserUpgrade:
            self._fail("the upstream switched protocols")
        except HttpParserError as error:
            self._fail(f"the upstream's answer is not HTTP: {error}")

    def eof_received(self) -> None:
        """Complete an answer that ends with its connection."""
        if self._exchange is not None and self._until_close:
            self._whole(keep=False)

    def connection_lost(self, error: Exception | None) -> None:
        """Tell the client's side, unless it asked for it."""
        exchange, self._exchange = self._exchange, None
        if self._aborted:
            return
        if exchange is None:
            self._downstream.upstream_ended(None)
            return
        reason = f" ({error})" if error is not None else ""
        if exchange.status is None:
            problem = f"the upstream closed the connection without an answer{reason}"
        else:
            problem = f"cut: the upstream closed the connection within its answer{reason}"
        self._downstream.upstream_ended(problem)

    def pause_writing(self) -> None:
        """See asyncio."""
        self._downstream.pause_request()

    def resume_writing(self) -> None:
        """See asyncio."""
        self._downstream.resume_request()

    # httptools

    def on_message_begin(self) -> None:
        """Begin an answer, or the one that follows an interim one."""
        self._in_head = True
        self._until_close = True
        if self._exchange is not None:
            self._exchange.response_headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note a header; trailers are passed on only."""
        if self._in_head and self._exchange is not None:
            self._exchange.response_headers.append((name, value))
            if name.lower() in (b"content-length", b"transfer-encoding"):
                self._until_close = False

    def on_headers_complete(self) -> None:
        """Note the status; an answer to HEAD ends here."""
        exchange = self._exchange
        self._in_head = False
        status = self._parser.get_status_code()
        if exchange is None or status < 200:
            return
        exchange.status = status
        if status in _NO_BODY:
            self._until_close = False
        if exchange.method == "HEAD":
            self._whole(keep=self._parser.should_keep_alive())

    def on_body(self, data: bytes) -> None:
        """Note bytes of the body."""
        exchange = self._exchange
        if exchange is not None:
            if exchange.first_byte is None:
                exchange.first_byte = self._downstream.monotonic()
            exchange.response.add(data)

    def on_message_complete(self) -> None:
        """End an answer."""
        if self._exchange is not None and self._exchange.status is not None:
            self._whole(keep=self._parser.should_keep_alive())

    def _whole(self, *, keep: bool) -> None:
        self._exchange = None
        self._downstream.answered(keep=keep)

    def _fail(self, problem: str) -> None:
        self.abort()
        self._downstream.upstream_ended(problem)

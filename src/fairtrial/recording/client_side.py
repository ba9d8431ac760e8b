"""The connection of a client: its requests, in turn, and where their answers come from."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from http import HTTPStatus

from httptools import (
    HttpParserCallbackError,
    HttpParserError,
    HttpParserUpgrade,
    HttpRequestParser,
)

from fairtrial.recording import admission
from fairtrial.recording.answers import Refusal, refusal_bytes, served_bytes
from fairtrial.recording.connecting import connect, reason
from fairtrial.recording.exchange import CANCELLED
from fairtrial.recording.turns import Shared, Turn
from fairtrial.recording.upstream_side import UpstreamConnection

LARGEST_HEAD = 64 * 1024
MOST_UNSENT = 256 * 1024
"""Bytes of a request that wait for a connection before the client is read no further."""


class ClientConnection(asyncio.Protocol):
    """One client; it has at most one upstream connection, and they end together.

    So a client meets the same connections, and the same ends of them, as without a proxy.
    """

    _transport: asyncio.Transport

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._parser = HttpRequestParser(self)
        self._turns: deque[Turn] = deque()
        self._upstream: UpstreamConnection | None = None
        self._sending = False
        self._work: asyncio.Task[None] | None = None
        self._holds: set[str] = set()
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._in_head = False
        self._head_size = 0
        self._ignores_upgrade = False
        self._over = False

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  # TCP always is
        self._transport = transport
        self._shared.connections.add(self)

    def data_received(self, data: bytes) -> None:
        """Read on in the client's requests."""
        if self._over:
            return
        self._head_size += len(data)
        try:
            self._read(data)
        except HttpParserCallbackError:
            raise  # a defect, not the client's
        except HttpParserError as error:
            self._break_off(
                Refusal(HTTPStatus.BAD_REQUEST, f"fairtrial proxy: this is not HTTP: {error}")
            )
            return
        if self._in_head and self._head_size > LARGEST_HEAD:
            self._break_off(
                Refusal(
                    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                    f"fairtrial proxy: the headers take more than {LARGEST_HEAD:,} bytes",
                )
            )

    def _read(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            if not self._ignores_upgrade:
                return  # it was refused
            # The parser takes what follows for another protocol, so the request is read again
            # without its wish for one.
            self._ignores_upgrade = False
            lines = [
                b"%b %b HTTP/1.1\r\n" % (self._parser.get_method(), self._url),
                *(
                    b"%b: %b\r\n" % pair
                    for pair in self._headers
                    if pair[0].lower() not in (b"connection", b"upgrade")
                ),
                b"\r\n",
            ]
            self._parser = HttpRequestParser(self)
            self._parser.feed_data(b"".join(lines) + data[upgrade.args[0] :])

    def connection_lost(self, error: Exception | None) -> None:
        """Cancel what the client no longer waits for."""
        del error
        self._over = True
        self._shared.connections.discard(self)
        if self._work is not None:
            self._work.cancel()
        if self._upstream is not None:
            self._upstream.abort()
        for turn in self._turns:
            self._record_end(turn, CANCELLED)
        self._turns.clear()

    def pause_writing(self) -> None:
        """See asyncio."""
        if self._upstream is not None:
            self._upstream.transport.pause_reading()

    def resume_writing(self) -> None:
        """See asyncio."""
        if self._upstream is not None and not self._upstream.transport.is_closing():
            self._upstream.transport.resume_reading()

    # httptools

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._url, self._headers, self._in_head = b"", [], True

    def on_url(self, url: bytes) -> None:
        """Note a part of the request's target."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note a header; nothing reads trailers, which are left out."""
        if self._in_head:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Decide what becomes of a request."""
        self._in_head = False
        if self._over:
            return
        self._ignores_upgrade = self._parser.should_upgrade() and admission.is_ignorable(
            self._parser.get_method(), self._headers
        )
        if self._ignores_upgrade:
            return
        turn = admission.admit(self._shared, self._parser, self._url, self._headers)
        self._turns.append(turn)
        if len(self._turns) == 1:
            self._start(turn)
        else:
            self._hold("turn")

    def on_body(self, data: bytes) -> None:
        """Pass a part of the body on, or let it wait for its turn."""
        if self._over:
            return
        turn = self._turns[-1]
        if turn.exchange is None or turn.answered:
            return
        turn.exchange.request.add(data)
        if turn.chunked:
            data = b"%x\r\n%b\r\n" % (len(data), data)
        self._send(turn, data)

    def on_message_complete(self) -> None:
        """End a request."""
        self._head_size = 0
        if self._over or self._ignores_upgrade:
            return
        turn = self._turns[-1]
        turn.whole = True
        if turn.exchange is not None and not turn.answered:
            if turn.chunked:
                self._send(turn, b"0\r\n\r\n")
            if not self._is_replayed(turn):
                self._shared.record(turn.exchange)
            elif turn is self._turns[0]:
                self._begin_work(self._replay(turn))
        if turn.answered and turn is self._turns[0]:
            self._next(turn)

    # The life of a turn.

    def _start(self, turn: Turn) -> None:
        if turn.refusal is not None:
            self._refuse(turn, turn.refusal)
        elif self._is_replayed(turn):
            if turn.whole:
                self._begin_work(self._replay(turn))
        else:
            self._ask(turn)

    def _is_replayed(self, turn: Turn) -> bool:
        exchange = turn.exchange
        return (
            self._shared.answer_from is not None
            and exchange is not None
            and exchange.token is not None
        )

    def _ask(self, turn: Turn) -> None:
        upstream = self._upstream
        if upstream is not None and upstream.usable and upstream.origin == turn.origin:
            self._forward(turn, upstream)
        else:
            self._begin_work(self._connect(turn))

    def _begin_work(self, work: Awaitable[None]) -> None:
        self._work = asyncio.ensure_future(work)

    def _forward(self, turn: Turn, upstream: UpstreamConnection) -> None:
        exchange = turn.exchange
        if exchange is None:
            return
        self._sending = True
        waiting, turn.unsent, turn.n_unsent = turn.unsent, [], 0
        upstream.begin(exchange, b"".join((turn.head, *waiting)))
        self._release("unsent")

    def _send(self, turn: Turn, data: bytes) -> None:
        if self._sending and turn is self._turns[0]:
            if self._upstream is not None:
                self._upstream.transport.write(data)
            return
        turn.unsent.append(data)
        turn.n_unsent += len(data)
        if turn.n_unsent > MOST_UNSENT and not self._is_replayed(turn):
            self._hold("unsent")

    async def _connect(self, turn: Turn) -> None:
        origin = turn.origin
        if origin is None:
            return
        if self._upstream is not None:
            old, self._upstream = self._upstream, None
            old.abort()
        upstream = UpstreamConnection(origin, self)
        try:
            await connect(upstream, origin, self._shared.tls)
        except (OSError, TimeoutError, ValueError) as error:
            self._fail(turn, f"{reason(error)}: {origin.url}")
            return
        finally:
            self._work = None
        if self._over:
            upstream.abort()
            return
        self._upstream = upstream
        self._forward(turn, upstream)

    async def _replay(self, turn: Turn) -> None:
        exchange, answer_from = turn.exchange, self._shared.answer_from
        if exchange is None or exchange.token is None or answer_from is None:
            return
        try:
            exchange.described = await asyncio.to_thread(self._shared.describe, exchange)
            self._shared.record(exchange)
            answer = await answer_from(exchange.token, exchange.described)
        except Exception as error:  # noqa: BLE001  # the hook is another's; its client must not hang
            self._fail(turn, f"the recording could not be read: {error}")
            return
        finally:
            self._work = None
        if answer is None:
            self._ask(turn)
            return
        exchange.served = answer
        exchange.status = answer.call.status
        exchange.first_byte = self.monotonic()
        self._transport.write(served_bytes(answer, head_only=exchange.method == "HEAD"))
        self.answered(keep=True)

    def _refuse(self, turn: Turn, refusal: Refusal) -> None:
        self._shared.refused(self._url.decode("latin-1"), refusal)
        turn.keep = turn.keep and turn.whole
        self._transport.write(refusal_bytes(refusal, keep=turn.keep))
        turn.answered = True

    def _fail(self, turn: Turn, problem: str) -> None:
        """Say that there is no answer, as long as nothing of one was sent."""
        self._record_end(turn, problem)
        turn.keep = False
        message = f"fairtrial proxy: {problem}"
        self._transport.write(refusal_bytes(Refusal(HTTPStatus.BAD_GATEWAY, message), keep=False))
        turn.answered = True
        self._release("unsent")
        self._release("upstream")
        if turn.whole:
            self._next(turn)

    def _next(self, turn: Turn) -> None:
        """Go on to the client's next request once one is done."""
        self._turns.popleft()
        self._sending = False
        if not turn.keep:
            self._close()
            return
        if len(self._turns) <= 1:
            self._release("turn")
        if self._turns:
            self._start(self._turns[0])
            following = self._turns[0] if self._turns else None
            if following is not None and following.answered and following.whole:
                self._next(following)

    def _record_end(self, turn: Turn, problem: str | None) -> None:
        exchange = turn.exchange
        if exchange is None or exchange.ended is not None:
            return
        exchange.problem = problem
        exchange.ended = self.monotonic()
        self._shared.record(exchange)

    def _break_off(self, refusal: Refusal) -> None:
        """Answer what cannot be read and end the connection."""
        self._shared.refused("", refusal)
        if not self._sending:
            self._transport.write(refusal_bytes(refusal, keep=False))
        for turn in self._turns:
            self._record_end(turn, "the request is not HTTP")
        self._close()

    def _close(self) -> None:
        self._over = True
        self._turns.clear()
        self._transport.close()
        if self._upstream is not None:
            self._upstream.abort()

    def end(self, problem: str) -> None:
        """End the connection, whatever goes on in it."""
        for turn in self._turns:
            self._record_end(turn, problem)
        self._turns.clear()
        self._transport.abort()

    def calls_as(self, token: str) -> bool:
        """Return whether a request of a trial is under way."""
        return any(
            turn.exchange is not None and turn.exchange.token == token for turn in self._turns
        )

    @property
    def busy(self) -> bool:
        """Whether a request is under way."""
        return bool(self._turns)

    def close_idle(self) -> None:
        """End the connection if nothing goes on in it."""
        if not self._turns:
            self._close()

    def _hold(self, why: str) -> None:
        if not self._holds:
            self._transport.pause_reading()
        self._holds.add(why)

    def _release(self, why: str) -> None:
        if why in self._holds:
            self._holds.discard(why)
            if not self._holds and not self._over:
                self._transport.resume_reading()

    # Downstream

    def monotonic(self) -> float:
        """See `Downstream`."""
        return self._shared.clock.monotonic()

    def pass_back(self, data: bytes) -> None:
        """See `Downstream`."""
        self._transport.write(data)

    def answered(self, *, keep: bool) -> None:
        """See `Downstream`."""
        turn = self._turns[0]
        turn.answered = True
        # An upstream that answers before it has read everything may not read on.
        turn.keep = turn.keep and keep and turn.whole
        self._record_end(turn, None)
        self._release("upstream")
        if turn.whole:
            self._next(turn)

    def upstream_ended(self, problem: str | None) -> None:
        """See `Downstream`."""
        self._upstream = None
        if self._over:
            return
        if not self._turns:
            self._close()
            return
        if problem is None:
            return
        turn = self._turns[0]
        if turn.exchange is not None and turn.exchange.status is None:
            self._fail(turn, f"{problem}: {turn.exchange.upstream}")
        else:
            self._record_end(turn, problem)
            self._close()

    def pause_request(self) -> None:
        """See `Downstream`."""
        self._hold("upstream")

    def resume_request(self) -> None:
        """See `Downstream`."""
        self._release("upstream")

"""A recording proxy that runs beside the test, and a place for what it records."""

from __future__ import annotations

import asyncio
import itertools
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar

import pytest

from fairtrial.app.bench import SystemClock
from fairtrial.model.errors import StoreError
from fairtrial.model.recorded_call import CallBody, CallQuery, RecordedCall
from fairtrial.model.trial import TrialKey
from fairtrial.ports import CallStore, Prices
from fairtrial.query.expression import Expression
from fairtrial.recording.answers import Refusal
from fairtrial.recording.call_log import CallLog
from fairtrial.recording.client_side import ClientConnection
from fairtrial.recording.describing import Describer
from fairtrial.recording.proxy import RecordingProxy
from fairtrial.recording.routing import upstreams_of
from fairtrial.recording.turns import AnswerFrom

T = TypeVar("T")


class MemoryCalls(CallStore):
    """Keeps calls in a list."""

    def __init__(self) -> None:
        self.kept: list[tuple[RecordedCall, CallBody]] = []
        self.broken = False

    def add(self, calls: Sequence[tuple[RecordedCall, CallBody]]) -> None:
        if self.broken:
            raise StoreError("the disk is full")
        self.kept += calls

    def find(self, ref: str) -> RecordedCall:
        return next(call for call, _ in self.kept if call.id == ref)

    def body(self, call_id: str) -> CallBody:
        return next(body for call, body in self.kept if call.id == call_id)

    def newest(self, query: CallQuery, where: Expression | None = None) -> Sequence[RecordedCall]:
        if where is not None:
            raise NotImplementedError
        return [call for call, _ in reversed(self.kept)][: query.limit]

    def of_trial(self, experiment_id: str, key: TrialKey) -> Sequence[RecordedCall]:
        raise NotImplementedError

    def prune(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    def next_number(self, session: str) -> int:
        return 1 + sum(call.session == session for call, _ in self.kept)


@dataclass
class Running:
    """A proxy at work."""

    proxy: RecordingProxy
    calls: MemoryCalls
    log: CallLog
    loop: asyncio.AbstractEventLoop
    refused: list[tuple[str, Refusal]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.proxy.port}"

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def recorded(self, n: int = 1) -> list[tuple[RecordedCall, CallBody]]:
        """Return the calls so far, once there are so many."""
        for _ in range(500):
            self.log.flush()
            if len(self.calls.kept) >= n and not self.proxy.busy:
                break
            threading.Event().wait(0.01)
        assert len(self.calls.kept) == n, [call.problem for call, _ in self.calls.kept]
        return self.calls.kept

    def clients(self) -> list[ClientConnection]:
        """Return the clients that are connected."""
        assert self.proxy._shared is not None
        return [c for c in self.proxy._shared.connections if isinstance(c, ClientConnection)]

    def one(self) -> tuple[RecordedCall, CallBody]:
        return self.recorded(1)[0]

    def send(self, data: bytes, *, until_close: bool = True) -> bytes:
        """Send bytes on a connection of their own; return what comes until its end."""
        with socket.create_connection(("127.0.0.1", self.proxy.port), 10) as connection:
            connection.sendall(data)
            received = b""
            while part := connection.recv(65536):
                received += part
                if not until_close:
                    break
            return received


Start = Callable[..., Running]


@contextmanager
def running(
    upstream: str,
    *,
    answer_from: AnswerFrom | None = None,
    prices: Prices | None = None,
    host: str = "127.0.0.1",
    environ: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Running]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    calls, numbers = MemoryCalls(), itertools.count(1)

    def new_id(_: datetime) -> str:
        return f"call_{next(numbers):06}"

    log = CallLog(calls, Describer(new_id, prices), "proxy_run")
    refused: list[tuple[str, Refusal]] = []
    proxy = RecordingProxy(
        upstreams_of(environ, upstream, f"{upstream}/v1"),
        log,
        SystemClock(),
        answer_from=answer_from,
        refused=lambda path, refusal: refused.append((path, refusal)),
    )
    state = Running(proxy, calls, log, loop, refused)
    try:
        state.do(proxy.start(host))
        yield state
    finally:
        calls.broken = False
        state.do(proxy.stop())
        log.close()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def start() -> Iterator[Start]:
    """Start proxies that end with the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ANTHROPIC_BASE_URL", raising=False)
        contexts: list[Any] = []

        def begin(upstream: str, **options: Any) -> Running:
            context = running(upstream, **options)
            contexts.append(context)
            state: Running = context.__enter__()
            return state

        try:
            yield begin
        finally:
            for context in reversed(contexts):
                context.__exit__(None, None, None)

"""A real server on a free port, in a thread of this process."""

from __future__ import annotations

import dataclasses
import http.client
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from fairtrial.app.bench import Bench, bench_here
from fairtrial.app.key_create import key_create
from fairtrial.app.reports.serve import ServeReport
from fairtrial.app.requests.key_create import Request as KeyRequest
from fairtrial.app.requests.serve import Request
from fairtrial.engine.control import Control
from fairtrial.http.serve import serve
from fairtrial.model.events import Event, ServerStarted

PATIENCE_S = 30


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """A server that runs, and the bench of its store."""

    def __init__(self, bench: Bench, **options: Any) -> None:
        self.events: list[Event] = []
        self.report: ServeReport | None = None
        self._news = threading.Condition()
        self.bench = dataclasses.replace(bench, publish=self._see, control=Control())
        request = Request(port=0, **options)
        self._thread = threading.Thread(target=self._serve, args=(request,), daemon=True)
        self._thread.start()
        started = self.wait_for(ServerStarted)
        self.url: str = started.url
        self.address = self.url.removeprefix("http://")

    def _serve(self, request: Request) -> None:
        self.report = serve(self.bench, request)

    def _see(self, event: Event) -> None:
        with self._news:
            self.events.append(event)
            self._news.notify_all()

    def wait_for(self, kind: type[Any], fits: Callable[[Any], bool] = lambda _: True) -> Any:
        """Return the first event of a kind, as soon as it was told."""

        def found() -> list[Any]:
            return [event for event in self.events if isinstance(event, kind) and fits(event)]

        with self._news:
            assert self._news.wait_for(found, PATIENCE_S), f"no {kind.__name__} in time"
            return found()[0]

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Return what the server answers."""
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE_S)
        with closing(connection):
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, names, answer.read())

    def key(self, name: str, scope: Any = "read") -> str:
        """Return a new key."""
        return key_create(self.bench, KeyRequest(name, scope)).token

    def stop(self) -> ServeReport:
        """End it as Ctrl-C does."""
        self.bench.control.drain("the test ends")
        self._thread.join(PATIENCE_S)
        assert self.report is not None
        return self.report


Serve = Callable[..., Any]


@pytest.fixture
def bench(folder: Any) -> Iterator[Bench]:
    """A bench over an empty store."""
    del folder
    with closing(bench_here()) as bench:
        yield bench


@contextmanager
def running(bench: Bench, **options: Any) -> Iterator[Server]:
    """Run a server, and end it."""
    server = Server(bench, **options)
    try:
        yield server
    finally:
        server.stop()
        server.bench.close()


@pytest.fixture
def server(bench: Bench) -> Iterator[Server]:
    """A server on this machine."""
    with running(bench) as server:
        yield server

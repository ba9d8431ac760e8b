"""`serve`: the API on this machine, until it is asked to stop."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from http import HTTPStatus

from fairtrial.app.bench import Bench
from fairtrial.app.key_projects import outside
from fairtrial.app.keys import scope_of
from fairtrial.app.receiving import Receiver
from fairtrial.app.reports.serve import ServeReport
from fairtrial.app.requests.serve import Request
from fairtrial.app.serving_place import announced
from fairtrial.http.application import Surroundings, create_app
from fairtrial.http.guard import Gate, Tally
from fairtrial.http.listening import listening_on, url_of
from fairtrial.http.mcp import mounted
from fairtrial.http.server import run
from fairtrial.model.errors import FairtrialError
from fairtrial.model.events import Event, RequestRefused, ServerStarted, SessionsReceived
from fairtrial.recording.routing import is_loopback


def serve(bench: Bench, request: Request) -> ServeReport:
    """Answer requests until the bench's control asks to stop.

    Raises:
        UsageError: the address cannot be had.
        StoreError: the store cannot be opened.
    """
    _ = bench.store  # what is wrong with it is told here, before anything listens
    tally = Tally()

    def refused(path: str, status: HTTPStatus, error: FairtrialError) -> None:
        bench.publish(RequestRefused(path, int(status), error.what))

    with closing(listening_on(request.host, request.port)) as listening:
        host, port = listening.getsockname()[:2]
        exposed = not is_loopback(host)
        gate = Gate(
            request.host,
            exposed,
            lambda key: scope_of(bench, key),
            lambda key, path, query: outside(bench, key, path, query),
        )
        receiver = Receiver(replace(bench, publish=_counting(bench, tally)))
        taking = receiver if request.receive else None
        url = url_of(request.host, port)
        agents = mounted(bench, url, exposed=exposed)
        app = create_app(bench, Surroundings(gate, taking, tally, refused, agents))

        def started() -> None:
            bench.publish(ServerStarted(url, exposed))
            if request.open:  # some browsers are waited for
                threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

        receiver.start()
        try:
            with announced(bench.home, url):
                run(app, listening, bench.control, started)
        finally:
            receiver.stop()
    return ServeReport(tally.requests, tally.refused, len(tally.sessions))


def _counting(bench: Bench, tally: Tally) -> Callable[[Event], None]:
    """Return what tells events on, and counts the sessions that came in."""

    def publish(event: Event) -> None:
        if isinstance(event, SessionsReceived):
            tally.sessions |= set(event.sessions)
        bench.publish(event)

    return publish

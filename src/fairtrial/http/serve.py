"""`serve`: the API on this machine, until it is asked to stop."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from http import HTTPStatus

from fairtrial.app.bench import Bench
from fairtrial.app.keys import scope_of
from fairtrial.app.receiving import Receiver
from fairtrial.app.reports.serve import ServeReport
from fairtrial.app.requests.serve import Request
from fairtrial.http.application import Surroundings, create_app
from fairtrial.http.guard import Gate, Tally
from fairtrial.http.server import run
from fairtrial.model.errors import FairtrialError, UsageError
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

    with closing(_listening(request.host, request.port)) as listening:
        host, port = listening.getsockname()[:2]
        exposed = not is_loopback(host)
        gate = Gate(request.host, exposed, lambda key: scope_of(bench, key))
        receiver = Receiver(replace(bench, publish=_counting(bench, tally)))
        taking = receiver if request.receive else None
        app = create_app(bench, Surroundings(gate, taking, tally, refused))
        url = _url(request.host, port)

        def started() -> None:
            bench.publish(ServerStarted(url, exposed))
            if request.open:  # some browsers are waited for
                threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

        receiver.start()
        try:
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


def _listening(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(512)
        except BaseException:
            listening.close()
            raise
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"cannot listen on {host}:{port}",
            where="--host, --port",
            why=getattr(error, "strerror", None) or str(error),
            fix="another program may have the port; --port 0 takes any that is free",
        ) from None
    return listening


def _url(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104  # compared with
    return (
        f"http://[{shown}]:{port}"
        if ":" in shown.strip("[]") and shown[0] != "["
        else f"http://{shown}:{port}"
    )

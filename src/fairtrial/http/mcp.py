"""`mcp`: tools for coding agents, until the agent leaves or the server is asked to stop."""

from __future__ import annotations

from contextlib import closing
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Route

from fairtrial.app.bench import Bench
from fairtrial.app.key_projects import outside
from fairtrial.app.keys import scope_of
from fairtrial.app.reports.mcp import McpReport
from fairtrial.app.requests.mcp import Request
from fairtrial.app.serving_place import served_at
from fairtrial.http import problems
from fairtrial.http.guard import Gate, Guard
from fairtrial.http.guard import Tally as Requests
from fairtrial.http.listening import listening_on, url_of
from fairtrial.http.server import run
from fairtrial.mcp.mounting import Mounted
from fairtrial.mcp.offered import check_allowed
from fairtrial.model.errors import FairtrialError, UsageError
from fairtrial.model.events import RequestRefused, ServerStarted
from fairtrial.recording.routing import is_loopback

if TYPE_CHECKING:
    from fairtrial.mcp.server import Around

PATH = "/mcp"


def mcp(bench: Bench, request: Request) -> McpReport:
    """Answer agents until the client leaves, or the bench's control asks to stop.

    Raises:
        UsageError: the address cannot be had, or a tool of --allow does not exist.
        StoreError: the store cannot be opened.
    """
    allowed = check_allowed(request.allow)
    _ = bench.store  # what is wrong with it is told here, before anybody calls
    if not request.http:
        _check_stdio(request)
        return _over_stdio(bench, allowed)
    return _over_http(bench, request, allowed)


def _check_stdio(request: Request) -> None:
    usual = Request()
    if (request.host, request.port) != (usual.host, usual.port):
        raise UsageError(
            "standard input and output have no address", where="--host, --port", fix="add --http"
        )


def _over_stdio(bench: Bench, allowed: frozenset[str]) -> McpReport:
    # The protocol's library takes 0.9 s.
    from fairtrial.mcp.server import Around  # noqa: PLC0415
    from fairtrial.mcp.stdio import serve_stdio  # noqa: PLC0415

    around = Around(allowed, lambda: served_at(bench.home))
    serve_stdio(bench, around)
    return McpReport(around.tally.calls, around.tally.refused)


def _over_http(bench: Bench, request: Request, allowed: frozenset[str]) -> McpReport:
    from fairtrial.mcp.server import Around  # noqa: PLC0415  # as above

    def refused(path: str, status: HTTPStatus, error: FairtrialError) -> None:
        bench.publish(RequestRefused(path, int(status), error.what))

    with closing(listening_on(request.host, request.port)) as listening:
        host, port = listening.getsockname()[:2]
        exposed = not is_loopback(host)
        around = Around(allowed, lambda: served_at(bench.home), exposed)
        gate = Gate(
            request.host,
            exposed,
            lambda key: scope_of(bench, key),
            lambda key, path, query: outside(bench, key, path, query),
        )
        app = Starlette(routes=[Route(PATH, Mounted(bench, lambda: around))])
        problems.install(app, bench)
        app.add_middleware(Guard, gate=gate, tally=Requests(), refused=refused)
        url = url_of(request.host, port) + PATH
        run(app, listening, bench.control, lambda: bench.publish(ServerStarted(url, exposed)))
    return McpReport(around.tally.calls, around.tally.refused)


def mounted(bench: Bench, url: str, *, exposed: bool) -> Mounted:
    """Return what answers agents beside the pages of `serve`.

    Args:
        bench: The server's bench.
        url: The address of its pages.
        exposed: Other machines can reach it.
    """

    def around() -> Around:
        from fairtrial.mcp.server import Around  # noqa: PLC0415  # as above

        return Around(served_at=lambda: url, exposed=exposed)

    return Mounted(bench, around)

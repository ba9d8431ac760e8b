"""A problem as a page: what, where, why, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from fastapi.responses import HTMLResponse
from starlette.datastructures import Headers
from starlette.types import Scope

from fairtrial.http.web.templating import environment
from fairtrial.model.errors import FairtrialError

_DATA: Final = ("/v1/", "/v2/", "/mcp")
"""What programs ask; they are always told in JSON."""


def wants_page(scope: Scope) -> bool:
    """Return whether a person asked, by a browser."""
    accepted = Headers(scope=scope).get("accept", "")
    return "text/html" in accepted and not str(scope["path"]).startswith(_DATA)


def problem_page(
    scope: Scope, status: HTTPStatus, error: FairtrialError, headers: Mapping[str, str]
) -> HTMLResponse:
    """Return the page of a problem."""
    text = (
        environment()
        .get_template("problem.html")
        .render(path=scope["path"], query={}, status=int(status), title=status.phrase, error=error)
    )
    return HTMLResponse(text, int(status), headers=dict(headers))

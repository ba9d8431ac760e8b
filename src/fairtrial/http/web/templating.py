"""Templates, and the page that a report becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import jinja2
from fastapi import Request
from fastapi.responses import HTMLResponse

from fairtrial import __version__
from fairtrial.http.web.words import FILTERS

STATIC: Final = Path(__file__).parent / "static"
_HTMX: Final = "vendor/htmx.js"


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of the navigation.

    Attributes:
        name: What it says.
        path: Where it leads.
    """

    name: str
    path: str


PLACES: Final = (
    Place("Experiments", "/experiments"),
    Place("Sessions", "/sessions"),
    Place("Datasets", "/datasets"),
    Place("Trends", "/trend"),
    Place("Review", "/review"),
)
"""The navigation. A page tells which it belongs to by the `place` of its template."""


@cache
def environment() -> jinja2.Environment:
    """Return the environment of the templates; whatever they print is escaped."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("fairtrial.http.web"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= FILTERS
    made.globals |= {
        "asset": asset,
        "has_htmx": (STATIC / _HTMX).exists(),
        "places": PLACES,
        "version": __version__,
        "with_query": with_query,
    }
    return made


@cache
def asset(name: str) -> str:
    """Return the address of a file of ours, which changes with its content."""
    digest = sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?{digest}"


def with_query(path: str, values: Mapping[str, Any], **changed: Any) -> str:
    """Return an address with parameters, some of them changed; None and empty ones are left out.

    A changed parameter `None` is taken away. A list gives its name several times.
    """
    merged = {**values, **changed}
    kept = {name: value for name, value in merged.items() if value not in (None, "", [], ())}
    return f"{path}?{urlencode(kept, doseq=True)}" if kept else path


def page(request: Request, template: str, status: int = 200, /, **context: Any) -> HTMLResponse:
    """Return a page.

    htmx asks for the same address and takes the part of the page that it swaps.

    Args:
        request: What was asked.
        template: The template's file.
        status: The HTTP status.
        context: What the template names. `path` and `query` (of one value each) are there too.
    """
    text = (
        environment()
        .get_template(template)
        .render(path=request.url.path, query=dict(request.query_params), **context)
    )
    return HTMLResponse(text, status, headers={"vary": "HX-Request"})

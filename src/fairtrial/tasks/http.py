"""A web service: one request for each case; the response, or a part of it, is the output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPMethod
from typing import Annotated, Final
from urllib.parse import urlsplit

from msgspec import Meta

from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.ports import Surroundings, Task
from fairtrial.schema.decoding import unknown_name
from fairtrial.schema.headers import filled_header
from fairtrial.schema.json_pointer import parse_pointer
from fairtrial.schema.variables import secrets_of, substitute
from fairtrial.tasks.request import RequestPlan
from fairtrial.tasks.template import Fill, compile_template

_BODILESS: Final = ("GET", "HEAD")


@dataclass(frozen=True)
class Options:
    """The options of an http task."""

    url: str
    """Where requests go; `${NAME}` is fairtrial's own variable NAME."""
    method: str = "POST"
    """The request method."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Request headers; `${NAME}` in a value is fairtrial's own variable NAME, which is kept out of
    the spec, the store and messages."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Query parameters; `${NAME}` as in headers, `{{input.field}}` as in the body."""
    body: Json = None
    """JSON with places for the call: `{{input}}`, `{{input.field.0}}`, `{{case_id}}`,
    `{{condition}}`, `{{metadata.field}}`, `{{arm}}`, `{{trial}}`, `{{attempt}}`, `{{seed}}`
    (default: the input itself; none for GET and HEAD)."""
    output: str | None = None
    """JSON pointer of the output in the response, e.g. `/choices/0/message/content` (default: the
    whole response)."""
    envelope: bool = False
    """Exchange JSON envelopes: the request carries the input with case id, trial and seed; the
    response is an object with output, cost, tokens, metrics, spans and error."""
    verify: bool = True
    """Check the server's certificate."""
    max_output: Annotated[int, Meta(ge=1, le=10**9)] = 16 * 1024 * 1024
    """Bytes a response may have; a trial with more fails."""


def build(options: Options, surroundings: Surroundings, where: str) -> Task:
    """Return the task; all of its options are checked and substituted at once.

    Raises:
        UsageError: one of them cannot be used, or a variable it names is not set.
    """
    # Slow to import (0.25 s): only a run with such a task pays for it.
    from fairtrial.tasks.http_exchange import HttpTask  # noqa: PLC0415
    from fairtrial.wire.outbound import proxy_for  # noqa: PLC0415

    requests = plan(options, surroundings, where)
    return HttpTask(requests, proxy_for(requests.url, surroundings.environ))


def plan(options: Options, surroundings: Surroundings, where: str) -> RequestPlan:
    """Return what every request of a task has in common; see `build`."""
    environ = surroundings.environ
    method = options.method.upper()
    if method not in HTTPMethod.__members__:
        reason = unknown_name(options.method, HTTPMethod.__members__)
        raise UsageError(f"request method: {reason}", where=f"{where}, option 'method'")
    if options.envelope and (options.body is not None or options.output is not None):
        raise UsageError(
            "'envelope' decides request and response: 'body' and 'output' have no place then",
            where=where,
            fix="drop 'envelope', or drop the others",
        )
    url = _url(options.url, environ, f"{where}, option 'url'")
    headers = {
        name: filled_header(name, value, environ, f"{where}, header {name!r}")
        for name, value in options.headers.items()
    }
    query = {
        name: compile_template(substitute(value, environ, place), place)
        for name, value in options.query.items()
        for place in (f"{where}, query parameter {name!r}",)
    }
    return RequestPlan(
        shown=f"{method} {options.url}",
        method=method,
        url=url,
        headers=headers,
        query=query,
        body=_body(options, method, f"{where}, option 'body'"),
        pointer=_pointer(options.output, f"{where}, option 'output'"),
        envelope=options.envelope,
        verify=options.verify,
        max_output=options.max_output,
        secrets=secrets_of(
            (options.url, *options.headers.values(), *options.query.values()), environ
        ),
    )


def _url(text: str, environ: Mapping[str, str], where: str) -> str:
    url = substitute(text, environ, where)
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(character.isspace() for character in url):
        raise UsageError(
            f"{text!r} is no http or https URL",
            where=where,
            fix="write it like http://127.0.0.1:8000/answer",
        )
    return url


def _body(options: Options, method: str, where: str) -> Fill | None:
    if options.body is not None:
        return compile_template(options.body, where)
    if options.envelope or method in _BODILESS:
        return None
    return lambda call: call.case.input


def _pointer(text: str | None, where: str) -> tuple[str, ...] | None:
    try:
        return None if text is None else parse_pointer(text)
    except ValueError as error:
        raise UsageError(str(error), where=where) from None

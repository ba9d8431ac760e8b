"""Errors as `application/problem+json` (RFC 9457), or a page: what, where, why, what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Scope

from fairtrial.app.bench import Bench
from fairtrial.app.crashes import crash_log
from fairtrial.http.web.problem_pages import problem_page, wants_page
from fairtrial.model.errors import (
    ConflictError,
    DefectError,
    FairtrialError,
    NotFoundError,
    RefusedError,
    StoreError,
    UsageError,
)

MEDIA_TYPE: Final = "application/problem+json"


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a class of errors is told.

    Attributes:
        name: The end of its `type`.
        status: The HTTP status.
    """

    name: str
    status: HTTPStatus


_KINDS: Final[Mapping[type[FairtrialError], _Kind]] = {
    UsageError: _Kind("usage", HTTPStatus.BAD_REQUEST),
    NotFoundError: _Kind("not-found", HTTPStatus.NOT_FOUND),
    RefusedError: _Kind("refused", HTTPStatus.FORBIDDEN),
    ConflictError: _Kind("conflict", HTTPStatus.CONFLICT),
    StoreError: _Kind("store", HTTPStatus.SERVICE_UNAVAILABLE),
    DefectError: _Kind("defect", HTTPStatus.INTERNAL_SERVER_ERROR),
    FairtrialError: _Kind("no-verdict", HTTPStatus.SERVICE_UNAVAILABLE),
}
"""The one table from an error's class to its status; a class that is not in it has its base's."""


class ProblemResponse(JSONResponse):
    """An error as a document of problems."""

    media_type = MEDIA_TYPE


def problem(
    status: HTTPStatus,
    error: FairtrialError,
    *,
    kind: str = "about:blank",
    headers: Mapping[str, str] | None = None,
) -> ProblemResponse:
    """Return an error with a status.

    Args:
        status: The HTTP status.
        error: What went wrong.
        kind: The problem's `type`.
        headers: Further headers of the answer.
    """
    return ProblemResponse(
        problem_json(status, error, kind), int(status), headers=dict(headers or {})
    )


def problem_json(status: HTTPStatus, error: FairtrialError, kind: str) -> dict[str, Any]:
    """Return the document of a problem."""
    return {
        "type": kind,
        "title": status.phrase,
        "status": int(status),
        "detail": str(error),
        "what": error.what,
        "where": error.where,
        "why": error.why,
        "fix": error.fix,
    }


def answer_to(
    scope: Scope,
    status: HTTPStatus,
    error: FairtrialError,
    *,
    kind: str = "about:blank",
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an error as who asked can read it: a page in a browser, else a document.

    Args:
        scope: What was asked, and how.
        status: The HTTP status.
        error: What went wrong.
        kind: The problem's `type`.
        headers: Further headers of the answer.
    """
    if wants_page(scope):
        return problem_page(scope, status, error, headers or {})
    return problem(status, error, kind=kind, headers=headers)


def told(scope: Scope, error: FairtrialError) -> Response:
    """Return an error with the status of its class."""
    kind = next(_KINDS[base] for base in type(error).__mro__ if base in _KINDS)
    name = error.kind if isinstance(error, ConflictError) else kind.name
    return answer_to(scope, kind.status, error, kind=f"urn:fairtrial:problem:{name}")


def install(app: Starlette, bench: Bench) -> None:
    """Let an application tell every error as a problem."""

    async def known(request: Request, error: Exception) -> Response:
        known = error if isinstance(error, FairtrialError) else defect_of(bench, error)
        return told(request.scope, known)

    async def http(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            return told(request.scope, defect_of(bench, error))
        status = HTTPStatus(error.status_code)
        return answer_to(request.scope, status, _of_http(status), headers=error.headers)

    async def invalid(request: Request, error: Exception) -> Response:
        found = error.errors() if isinstance(error, RequestValidationError) else []
        said = "; ".join(
            f"{'.'.join(map(str, one.get('loc', ())))}: {one.get('msg')}" for one in found
        )
        return told(request.scope, UsageError(said or "the request does not fit"))

    async def gone(_request: Request, _error: Exception) -> Response:
        return Response(status_code=HTTPStatus.BAD_REQUEST)  # which nobody reads

    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(FairtrialError, known)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(Exception, known)


def _of_http(status: HTTPStatus) -> FairtrialError:
    if status is HTTPStatus.NOT_FOUND:
        return NotFoundError("there is nothing at this address", fix="see /v2/openapi.json")
    return FairtrialError(status.phrase[0].lower() + status.phrase[1:], why=status.description)


def defect_of(bench: Bench, error: Exception) -> DefectError:
    """Return what is told of a defect; its traceback goes to the log of crashes."""
    try:
        bench.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        why = f"the traceback is in {crash_log(bench.home / 'crashes.log', error)}"
    except OSError:
        why = None
    return DefectError(
        f"a defect of fairtrial: {type(error).__name__}",
        why=why,
        fix="please report it with that traceback",
    )

"""What stands before every route: whom the server answers, and how much it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairtrial.http.names_in_paths import quoted, with_names_whole
from fairtrial.http.problems import answer_to, told
from fairtrial.model.api_key import KeyScope
from fairtrial.model.errors import FairtrialError, RefusedError
from fairtrial.recording.routing import host_is_ours

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
"""What a form of another site can send without being asked whether it may."""
SIGN_IN: Final = "/sign-in"
COOKIE: Final = "fairtrial_key"
"""Holds the key of a browser, which has no other way to send it with a page."""
_OPEN: Final = frozenset({"/v2/health", SIGN_IN})
"""What needs no key: it tells nothing."""
_FILES: Final = "/static/"
"""Nor do the files that all pages are made with."""
_PROGRAMS: Final = ("/v1/", "/v2/", "/mcp")
_MEGABYTE: Final = 1024 * 1024
_LARGEST: Final = 1 * _MEGABYTE
_LARGEST_BATCH: Final = 16 * _MEGABYTE
_BATCHES: Final = ("/v1/traces", "/v1/logs", "/rows", "/versions")
"""How paths end that take many things at once."""
_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
        "object-src 'none'"
    ),
    "cross-origin-resource-policy": "same-origin",
    # A form's `Origin` would be null with `no-referrer`.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


@dataclass(frozen=True, slots=True)
class Gate:
    """Whom a server answers.

    Attributes:
        host: What it listens on.
        exposed: Other machines can reach it.
        scope_of: What the key with this text may do; None when there is no such key.
        outside: Whether a good key is for a project that a path and its query are not of.
    """

    host: str
    exposed: bool
    scope_of: Callable[[str], KeyScope | None]
    outside: Callable[[str, str, str], bool] = lambda _key, _path, _query: False


@dataclass
class Tally:
    """What a server did so far."""

    requests: int = 0
    refused: int = 0
    sessions: set[str] = field(default_factory=set)


class TooLargeError(Exception):
    """A body has more bytes than are taken."""


class Guard:
    """Refuses what is not for this server, and marks every answer. An ASGI middleware.

    A page in a browser reaches addresses of this machine too. It is kept out by its `Host` (a name
    of its own that it let point here), by its `Origin`, and by not being told that it may read
    (there is no CORS).
    """

    def __init__(
        self,
        app: ASGIApp,
        gate: Gate,
        tally: Tally,
        refused: Callable[[str, HTTPStatus, FairtrialError], None],
    ) -> None:
        self._app = app
        self._gate = gate
        self._tally = tally
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._tally.requests += 1
        scope = with_names_whole(scope)
        marked = _marking(send)
        headers = Headers(scope=scope)
        try:
            found = self._objection(scope, headers) or await self._key_objection(scope, headers)
        except FairtrialError as error:  # keys are in the store
            await told(scope, error)(scope, receive, marked)
            return
        if found is not None:
            await self._refuse(found, scope, receive, marked)
            return
        limit = largest_body(scope["path"])
        started = False

        async def noting(message: Message) -> None:
            nonlocal started
            started = True
            await marked(message)

        try:
            await self._app(scope, _limited(receive, limit), noting)
        except TooLargeError:
            if started:
                raise
            await self._refuse(_too_large(limit), scope, receive, marked)

    async def _refuse(
        self, found: tuple[HTTPStatus, FairtrialError], scope: Scope, receive: Receive, send: Send
    ) -> None:
        status, error = found
        self._tally.refused += 1
        self._refused(scope["path"], status, error)
        headers = {"connection": "close"} if scope["method"] not in _READS else {}
        if status is HTTPStatus.UNAUTHORIZED:
            headers["www-authenticate"] = 'Bearer realm="fairtrial"'
        await answer_to(scope, status, error, headers=headers)(scope, receive, send)

    def _objection(
        self, scope: Scope, headers: Headers
    ) -> tuple[HTTPStatus, FairtrialError] | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1:
            return HTTPStatus.BAD_REQUEST, RefusedError("a request names exactly one Host")
        # With a key, whoever asks is known; a page that lets its name point here has none.
        if not self._gate.exposed and not host_is_ours(hosts[0], self._gate.host):
            return HTTPStatus.MISDIRECTED_REQUEST, RefusedError(
                "this server is not the host that was asked for",
                where=f"Host: {hosts[0]}",
                fix=f"ask for {self._gate.host}, or localhost",
            )
        if scope["method"] not in _READS:
            foreign = _foreign(headers, hosts[0], scope.get("scheme", "http"))
            if foreign is not None:
                return HTTPStatus.FORBIDDEN, foreign
        limit = largest_body(scope["path"])
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            return _too_large(limit)
        return None

    async def _key_objection(
        self, scope: Scope, headers: Headers
    ) -> tuple[HTTPStatus, FairtrialError] | None:
        given = headers.get("authorization") or _signed_in(headers)
        if given is None and (not self._gate.exposed or scope["path"] in _OPEN):
            return None
        if scope["path"] == SIGN_IN or scope["path"].startswith(_FILES):
            return None  # whoever comes here has no key yet, or one that is good no more
        if given is None:
            return HTTPStatus.UNAUTHORIZED, RefusedError(
                "a key is needed from other machines",
                where="Authorization",
                fix="make one with `fairtrial key create`, and send it: Authorization: Bearer KEY",
            )
        scheme, _, text = given.partition(" ")
        allowed = None
        if scheme.lower() == "bearer":
            # Not among those that write: they may all wait for the store.
            allowed = await run_in_threadpool(self._gate.scope_of, text.strip())
        if allowed is None:
            return HTTPStatus.UNAUTHORIZED, RefusedError(
                "this key is not known, or was revoked",
                where="Authorization",
                fix="`fairtrial key list` shows the keys",
            )
        return await self._beyond(allowed, text.strip(), scope)

    async def _beyond(
        self, allowed: KeyScope, key: str, scope: Scope
    ) -> tuple[HTTPStatus, FairtrialError] | None:
        """Return why a good key is not enough; None when it is."""
        if scope["method"] not in _READS and allowed is not KeyScope.WRITE:
            return HTTPStatus.FORBIDDEN, RefusedError(
                "this key may only read",
                where="Authorization",
                fix="make one that may write: fairtrial key create NAME --scope write",
            )
        path, query = scope["path"], scope.get("query_string", b"").decode("latin-1")
        if scope["method"] not in _READS and not path.startswith(_PROGRAMS):
            path = "/buttons"  # what they write (datasets, the queue) is of no one project
        if await run_in_threadpool(self._gate.outside, key, quoted(path), query):
            return HTTPStatus.FORBIDDEN, RefusedError(
                "this key is for one project, and this is not of it",
                where="Authorization",
                fix="see /experiments, ask under /v2/projects/PROJECT, or use a key for all "
                "projects",
            )
        return None


def largest_body(path: str) -> int:
    """Return how many bytes of a body are taken."""
    return _LARGEST_BATCH if path.endswith(_BATCHES) else _LARGEST


def given_key(headers: Headers) -> str | None:
    """Return the key that a request came with; None when it has none."""
    scheme, _, text = (headers.get("authorization") or _signed_in(headers) or "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else None


def _signed_in(headers: Headers) -> str | None:
    """Return the key of a browser's cookie as a header would give it."""
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE and value:
            return f"Bearer {value}"
    return None


def _foreign(headers: Headers, host: str, scheme: str) -> FairtrialError | None:
    """Return why a write may come from another site's page; None when it cannot."""
    origin = headers.get("origin")
    if origin is not None:
        if _same_origin(origin, scheme, host):
            return None
        return RefusedError("a page of another origin must not write", where=f"Origin: {origin}")
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return RefusedError("a page of another origin must not write", where="Sec-Fetch-Site")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in _FORMS:
        return RefusedError(
            "a form without its origin is refused", where=f"Content-Type: {kind}", fix="send JSON"
        )
    return None


def _same_origin(origin: str, scheme: str, host: str) -> bool:
    try:
        theirs, ours = urlsplit(origin), urlsplit(f"{scheme}://{host}")
        places = [(place.scheme, place.hostname, place.port) for place in (theirs, ours)]
    except ValueError:
        return False
    return places[0] == places[1]


def _too_large(limit: int) -> tuple[HTTPStatus, FairtrialError]:
    error = RefusedError("the body is too large", why=f"at most {limit:,} bytes are taken")
    return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, error


def _limited(receive: Receive, limit: int) -> Receive:
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            raise TooLargeError
        return message

    return limited


def _marking(send: Send) -> Send:
    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return marked

"""What becomes of a request, decided from its head alone."""

from __future__ import annotations

from http import HTTPStatus

from httptools import HttpRequestParser

from fairtrial.recording.answers import Refusal
from fairtrial.recording.exchange import SESSION_HEADER, Exchange, Headers, header
from fairtrial.recording.routing import (
    SERVED,
    Origin,
    host_is_ours,
    origin_is_ours,
    split_token,
)
from fairtrial.recording.turns import Shared, Turn

# They are about the connection between two neighbours, or are this proxy's own.
_NOT_FORWARDED = frozenset(
    {
        b"connection",
        b"host",
        b"keep-alive",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"upgrade",
        SESSION_HEADER,
    }
)


def admit(shared: Shared, parser: HttpRequestParser, url: bytes, headers: Headers) -> Turn:
    """Return the turn of a request: where it goes, or why it is refused."""
    method = parser.get_method().decode("ascii")
    target = url.decode("latin-1")
    token, path = split_token(target)
    keep = parser.should_keep_alive()
    refusal = _unwelcome(shared, method, headers)
    routed = shared.upstreams.route(
        path, speaks_anthropic=header(headers, b"anthropic-version") is not None
    )
    if refusal is None and token is not None and token not in shared.tokens:
        refusal = Refusal(
            HTTPStatus.NOT_FOUND,
            "fairtrial proxy: no trial with this address is running; it may be over",
        )
    if refusal is None and routed is None:
        refusal = _not_served(method, path)
    if refusal is None and _is_websocket(headers):
        refusal = Refusal(
            HTTPStatus.UPGRADE_REQUIRED,
            "fairtrial proxy: WebSockets are not recorded; use HTTP",
            (("upgrade", "HTTP/1.1"),),
        )
    if refusal is not None or routed is None:
        return Turn(None, refusal, b"", None, chunked=False, keep=keep)
    origin, there = routed
    exchange = Exchange(
        method=method,
        target=path,
        headers=headers,
        upstream=origin.url,
        started_at=shared.clock.now(),
        started=shared.clock.monotonic(),
        token=token,
    )
    head = _head(method, there, parser.get_http_version(), origin, headers)
    chunked = header(headers, b"transfer-encoding") is not None
    return Turn(exchange, None, head, origin, chunked=chunked, keep=keep)


def _head(method: str, path: str, version: str, origin: Origin, headers: Headers) -> bytes:
    dropped = _NOT_FORWARDED | {
        word.strip().lower()
        for name, value in headers
        if name.lower() == b"connection"
        for word in value.split(b",")
    }
    lines = [
        f"{method} {path} HTTP/{version}\r\nHost: {origin.authority}\r\n".encode("latin-1"),
        *(b"%b: %b\r\n" % pair for pair in headers if pair[0].lower() not in dropped),
        b"\r\n",
    ]
    return b"".join(lines)


def _unwelcome(shared: Shared, method: str, headers: Headers) -> Refusal | None:
    if method == "CONNECT":
        return Refusal(
            HTTPStatus.METHOD_NOT_ALLOWED,
            "fairtrial proxy: this is not a forward proxy; give its address as the base URL",
        )
    hosts = [value for name, value in headers if name.lower() == b"host"]
    if len(hosts) != 1:
        return Refusal(HTTPStatus.BAD_REQUEST, "fairtrial proxy: a request has one Host header")
    if not host_is_ours(hosts[0].decode("latin-1"), shared.bound):
        return Refusal(
            HTTPStatus.FORBIDDEN,
            "fairtrial proxy: it is reached as 127.0.0.1 or localhost only, so that no web page "
            "can point its own name here",
        )
    page = header(headers, b"origin")
    if page is not None and not origin_is_ours(page.decode("latin-1"), shared.bound):
        return Refusal(
            HTTPStatus.FORBIDDEN, "fairtrial proxy: web pages of other sites may not call it"
        )
    return None


def _not_served(method: str, path: str) -> Refusal:
    return Refusal(
        HTTPStatus.NOT_FOUND,
        f"fairtrial proxy: {method} {path.split('?', 1)[0]} belongs to no API that it passes on; "
        f"it serves {SERVED}",
    )


def is_ignorable(method: bytes, headers: Headers) -> bool:
    """Return whether an upgrade that a request wishes for may be left out, e.g. `h2c`."""
    return method != b"CONNECT" and not _is_websocket(headers)


def _is_websocket(headers: Headers) -> bool:
    upgrade = header(headers, b"upgrade")
    return upgrade is not None and upgrade.strip().lower() == b"websocket"

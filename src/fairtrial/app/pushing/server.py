"""A fairtrial server as the destination of what is reported."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import quote, urlsplit

from fairtrial import __version__
from fairtrial.model.errors import (
    ConflictError,
    FairtrialError,
    NotFoundError,
    RefusedError,
    UsageError,
)
from fairtrial.model.json import Json
from fairtrial.model.wording import excerpt

_TRIES: Final = 4
_FIRST_WAIT_S: Final = 0.5
_LONGEST_WAIT_S: Final = 30.0
_TIMEOUT_S: Final = 120.0
_LARGEST_ANSWER: Final = 64 * 1024 * 1024
_LARGEST_ROW: Final = 15 * 1024 * 1024
_AGAIN: Final = "push it again: what is stored already is known, and the rest is added"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: the key is for this server alone."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nothing."""


class Server:
    """A server that `fairtrial serve` runs. See `Destination`.

    Args:
        url: Its address.
        key: A key that may write; None where none is needed.
        project: The project of the server; None is that of its folder.
        wait: Waits some seconds.

    Raises:
        UsageError: the address is none.
    """

    def __init__(
        self, url: str, key: str | None, project: str | None, wait: Callable[[float], None]
    ) -> None:
        self._base = _checked(url)
        self._key = None if key is None else _printable(key)
        self._project = project
        self._wait = wait
        self._opener = urllib.request.build_opener(_NoRedirect)

    def open(self, body: bytes, key: str | None) -> dict[str, Json]:
        """See `Destination.open`."""
        path = "/v2/experiments"
        if self._project is not None:
            path = f"/v2/projects/{quote(self._project, safe='')}/experiments"
        return self._post(path, body, key)

    def take(self, experiment: str, body: bytes, key: str) -> None:
        """See `Destination.take`."""
        self._post(f"/v2/experiments/{experiment}/rows", body, key)

    def finish(self, experiment: str, body: bytes) -> dict[str, Json]:
        """See `Destination.finish`."""
        return self._post(f"/v2/experiments/{experiment}/finish", body, None)

    def largest_row(self) -> int | None:
        """See `Destination.largest_row`."""
        return _LARGEST_ROW

    def _post(self, path: str, body: bytes, key: str | None) -> dict[str, Json]:
        """Send a body, again after what may pass, and return the answer."""
        wait_s = _FIRST_WAIT_S
        for _ in range(_TRIES - 1):
            try:
                return self._sent(path, body, key)
            except _PassingError as trouble:
                self._wait(min(trouble.retry_after or wait_s, _LONGEST_WAIT_S))
                wait_s *= 2
        try:
            return self._sent(path, body, key)
        except _PassingError as trouble:
            raise FairtrialError(
                f"the server does not take it: {trouble}", where=self._base, fix=_AGAIN
            ) from None

    def _sent(self, path: str, body: bytes, key: str | None) -> dict[str, Json]:
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"fairtrial/{__version__}",
            **({"Idempotency-Key": key} if key is not None else {}),
            **({"Authorization": f"Bearer {self._key}"} if self._key is not None else {}),
        }
        request = urllib.request.Request(  # noqa: S310  # the scheme was checked
            self._base + path, body, headers, method="POST"
        )
        try:
            with self._opener.open(request, timeout=_TIMEOUT_S) as answer:
                return _object(answer.read(_LARGEST_ANSWER), self._base)
        except urllib.error.HTTPError as answer:
            with answer:
                status, said = answer.code, answer.read(_LARGEST_ANSWER)
                again = answer.headers.get("Retry-After", "")
            if status in (429, 502, 503, 504):
                seconds = float(again) if again.isdecimal() else None
                raise _PassingError(f"it answered {status}", seconds) from None
            raise _error(status, said, self._base) from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise _PassingError(excerpt(str(reason) or type(error).__name__)) from None


class _PassingError(Exception):
    """Something that may be gone the next time."""

    def __init__(self, what: str, retry_after: float | None = None) -> None:
        super().__init__(what)
        self.retry_after = retry_after


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query
        _ = parts.port
    except ValueError:
        fits = False
    if not fits:
        raise UsageError(
            f"{excerpt(url, 100)!r} is no address of a server",
            where="--url",
            fix="give one such as http://127.0.0.1:7411",
        )
    if parts.username or parts.password:
        raise UsageError(
            "the address holds a password", where="--url", fix="give the key with --key"
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _printable(key: str) -> str:
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable():
        raise UsageError("this is no key", where="--key", fix="make one: fairtrial key create")
    return key


def _object(data: bytes, base: str) -> dict[str, Json]:
    try:
        found = json.loads(data)
    except (RecursionError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise FairtrialError(
            "what answers is no fairtrial server",
            where=base,
            why=f"it said {excerpt(data, 80)!r}",
            fix="check the address",
        )
    return found


def _error(status: int, data: bytes, base: str) -> FairtrialError:
    """Return what a server says is wrong."""
    try:
        told = json.loads(data)
    except (RecursionError, ValueError):
        told = None
    told = told if isinstance(told, dict) else {}
    what = str(told.get("what") or f"the server answered {status}")
    where = " ".join(str(part) for part in (base, told.get("where")) if part)
    fix = str(told["fix"]) if told.get("fix") else None
    if status == 404:
        return NotFoundError(what, where=where, fix=fix)
    if status == 409:
        return ConflictError(str(told.get("type")), what, where=where, fix=fix)
    if status in (401, 403):
        return RefusedError(what, where=where, fix=fix)
    if status in (400, 413, 415, 422):
        return UsageError(what, where=where, fix=fix)
    return FairtrialError(what, where=where, fix=fix or _AGAIN)

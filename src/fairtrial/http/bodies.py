"""Bodies of requests: JSON that fits, and what makes a request known when it is sent again."""

from __future__ import annotations

import hashlib
from typing import Any, Final

import msgspec
from fastapi import Request

from fairtrial.app.reported_bodies import body_of
from fairtrial.model.errors import UsageError
from fairtrial.model.reported import Receipt

KEY_HEADER: Final = "Idempotency-Key"
_LONGEST_KEY: Final = 200
_NO_BODY: Final = b"{}"


async def body(request: Request, kind: type[Any], *, optional: bool = False) -> Any:
    """Return the body of a request.

    Raises:
        UsageError: it is no JSON, or does not fit.
    """
    data = await request.body()
    if not data and optional:
        data = _NO_BODY
    coding = request.headers.get("content-encoding", "").strip().lower()
    if coding not in ("", "identity"):
        raise UsageError(
            "this takes bodies that are not compressed", where=f"Content-Encoding: {coding[:40]}"
        )
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json" and data != _NO_BODY:
        raise UsageError("this takes JSON", where="Content-Type", fix="send application/json")
    try:
        return body_of(kind, data)
    except (msgspec.DecodeError, ValueError) as error:
        raise UsageError(_sentence(error), where="body") from None
    except RecursionError:
        raise UsageError("it is nested too deeply", where="body") from None


async def receipt(request: Request) -> Receipt | None:
    """Return what makes a request known; None when it names no key.

    Raises:
        UsageError: the key is no key.
    """
    key = request.headers.get(KEY_HEADER)
    if key is None:
        return None
    if not 0 < len(key) <= _LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise UsageError(
            f"a key is 1 to {_LONGEST_KEY} printable ASCII characters", where=KEY_HEADER
        )
    hashes = hashlib.sha256(f"{request.method} {request.url.path}\0".encode())
    hashes.update(await request.body())
    return Receipt(key, hashes.digest())


def _sentence(error: Exception) -> str:
    return str(error).replace("`", "'") or "it is no JSON"

"""Keys of the HTTP API: what one looks like, and what it may do."""

from __future__ import annotations

import base64
import hashlib
import secrets

from fairtrial.app.bench import Bench
from fairtrial.model.api_key import KeyScope

_PREFIX = "ftk_"
_BYTES = 32
_LONGEST = 200


def new_token() -> str:
    """Return a new key: 256 random bits, so that its hash needs neither salt nor slowness."""
    return _PREFIX + base64.urlsafe_b64encode(secrets.token_bytes(_BYTES)).decode().rstrip("=")


def digest_of(token: str) -> bytes:
    """Return what is kept of a key."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def scope_of(bench: Bench, token: str) -> KeyScope | None:
    """Return what a key may do; None when it is not known or was revoked."""
    if not token.startswith(_PREFIX) or len(token) > _LONGEST:
        return None
    key = bench.store.keys.good(digest_of(token))
    return None if key is None else key.scope

"""Keys of the HTTP API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from fairtrial.model.api_key import ApiKey


class KeyStore(Protocol):
    """Keeps keys by the hash of their text."""

    def add(self, key: ApiKey, digest: bytes) -> None:
        """Keep a key.

        Raises:
            UsageError: a key that is good has this name already.
        """
        ...

    def all(self) -> Sequence[ApiKey]:
        """Return all keys, the newest first, revoked ones included."""
        ...

    def good(self, digest: bytes) -> ApiKey | None:
        """Return the key whose text has this hash; None when there is none, or it was revoked."""
        ...

    def revoke(self, ref: str, now: datetime) -> ApiKey:
        """Revoke the good key that an id, a unique prefix of one (6+ characters) or a name means.

        Raises:
            NotFoundError: there is none, or the prefix fits several.
        """
        ...

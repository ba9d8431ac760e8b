"""A key of the HTTP API. The key itself is shown once and kept nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class KeyScope(StrEnum):
    """What a key may do."""

    READ = "read"
    WRITE = "write"
    """Read and write."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is kept of a key.

    Attributes:
        id: `key_` and a ULID.
        name: What its owner calls it.
        scope: What it may do.
        created_at: When it was made (UTC).
        revoked_at: When it was revoked; None while it is good.
        project: The id of the only project that it is for; None when it is for all.
    """

    id: str
    name: str
    scope: KeyScope
    created_at: datetime
    revoked_at: datetime | None = None
    project: str | None = None

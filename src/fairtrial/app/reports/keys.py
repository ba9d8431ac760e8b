"""What the verbs of keys say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.interchange.experiment_exports.export import timestamp
from fairtrial.model.api_key import ApiKey
from fairtrial.model.json import Json


def key_json(key: ApiKey) -> dict[str, Json]:
    """Return what is known of a key."""
    return {
        "id": key.id,
        "name": key.name,
        "scope": key.scope.value,
        "project": key.project,
        "created_at": timestamp(key.created_at),
        "revoked_at": None if key.revoked_at is None else timestamp(key.revoked_at),
    }


@dataclass(frozen=True, slots=True)
class CreatedKeyReport(Informing):
    """A key that was made.

    Attributes:
        key: What is kept of it.
        token: The key itself, which nobody can show again.
    """

    schema: ClassVar[str] = "fairtrial.key_created/1"

    key: ApiKey
    token: str = field(repr=False)

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, "key": key_json(self.key), "token": self.token}


@dataclass(frozen=True, slots=True)
class KeysReport(Informing):
    """All keys.

    Attributes:
        keys: The newest first.
    """

    schema: ClassVar[str] = "fairtrial.keys/1"

    keys: Sequence[ApiKey]

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, "keys": [key_json(key) for key in self.keys]}


@dataclass(frozen=True, slots=True)
class RevokedKeyReport(Informing):
    """A key that was revoked."""

    schema: ClassVar[str] = "fairtrial.key_revoked/1"

    key: ApiKey

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, "key": key_json(self.key)}

"""What `serve` says when it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class ServeReport(Informing):
    """What a server did.

    Attributes:
        requests: How many requests it answered.
        refused: How many of them it refused: a wrong host, origin or key, or too large.
        sessions: How many sessions it received, new ones and changed ones.
    """

    schema: ClassVar[str] = "fairtrial.serve/1"

    requests: int
    refused: int
    sessions: int

    def json(self) -> dict[str, Json]:
        """Return the last line of `serve --json`."""
        return {
            "schema": self.schema,
            "requests": self.requests,
            "refused": self.refused,
            "sessions": self.sessions,
        }

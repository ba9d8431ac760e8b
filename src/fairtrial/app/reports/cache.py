"""What `cache show` and `cache prune` say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class CacheReport(Informing):
    """Kept answers of models.

    Attributes:
        n_answers: How many.
        size_bytes: The room they take, compressed.
    """

    schema: ClassVar[str] = "fairtrial.cache/1"

    n_answers: int
    size_bytes: int

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, "n_answers": self.n_answers, "size_bytes": self.size_bytes}


@dataclass(frozen=True, slots=True)
class PrunedReport(Informing):
    """What was forgotten.

    Attributes:
        n_forgotten: How many answers.
        freed_bytes: The room they took.
        left: What is still kept.
    """

    schema: ClassVar[str] = "fairtrial.cache_pruned/1"

    n_forgotten: int
    freed_bytes: int
    left: CacheReport

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "n_forgotten": self.n_forgotten,
            "freed_bytes": self.freed_bytes,
            "n_answers": self.left.n_answers,
            "size_bytes": self.left.size_bytes,
        }

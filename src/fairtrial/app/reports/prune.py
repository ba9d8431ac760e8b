"""What `prune` says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class PruneReport(Informing):
    """What was removed, or would be.

    Attributes:
        removed: How many of each kind.
        dry_run: Nothing was removed.
        before: Bytes of each part of the store's folder before.
        after: Bytes of each part after it.
        compacted: Whether the database was written anew; None when there was no need.
    """

    schema: ClassVar[str] = "fairtrial.prune/1"

    removed: Mapping[str, int]
    dry_run: bool
    before: Mapping[str, int]
    after: Mapping[str, int]
    compacted: bool | None

    @property
    def bytes_before(self) -> int:
        """All bytes before."""
        return sum(self.before.values())

    @property
    def bytes_after(self) -> int:
        """All bytes after."""
        return sum(self.after.values())

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "dry_run": self.dry_run,
            "removed": dict(self.removed),
            "bytes_before": self.bytes_before,
            "bytes_after": self.bytes_after,
            "compacted": self.compacted,
            "parts": {
                name: {"before": self.before.get(name, 0), "after": self.after.get(name, 0)}
                for name in sorted({*self.before, *self.after})
            },
        }

"""What `sessions sync` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync brought.

    Attributes:
        places: Where transcripts were looked for.
        files: Files that were found.
        read: Files of which something was read.
        bytes: Bytes that were read.
        sessions: Ids of the sessions that are new or changed.
        flagged: How many of them have a flag of level warn.
        troubles: What went wrong, in words.
    """

    schema: ClassVar[str] = "fairtrial.sessions_synced/1"

    places: Sequence[str]
    files: int
    read: int
    bytes: int
    sessions: Sequence[str]
    flagged: int
    troubles: Sequence[str]

    @property
    def exit_code(self) -> ExitCode:
        """1 when a file or a rule failed."""
        return ExitCode.NEGATIVE if self.troubles else ExitCode.OK

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "places": list(self.places),
            "files": self.files,
            "read": self.read,
            "bytes": self.bytes,
            "sessions": list(self.sessions),
            "flagged": self.flagged,
            "troubles": list(self.troubles),
        }

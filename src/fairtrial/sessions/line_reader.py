"""What all readers of files of lines have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it brings what is not needed to see that nothing is new
    from fairtrial.ports.sessions import TranscriptSource


class LineReader:
    """Reads files that hold one record a line and only grow. See `SessionReader`."""

    def source(self, path: str) -> TranscriptSource:
        """See `SessionReader.source`."""
        # Its module is not needed to see that nothing is new.
        from fairtrial.sessions.lines import LineFile  # noqa: PLC0415

        return LineFile(path)

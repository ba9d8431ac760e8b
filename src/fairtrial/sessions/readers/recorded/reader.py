"""Where programs that record sessions write their journals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fairtrial.ports.transcript_files import FoundFile, Place
from fairtrial.sessions.line_reader import LineReader
from fairtrial.sessions.walking import files_under

if TYPE_CHECKING:  # it brings what is not needed to see that nothing is new
    from fairtrial.ports.sessions import Clean, Transcript

AGENT: Final = "recorded"
FOLDER: Final = "recorded"
"""In the folder of the store."""


class RecordedReader(LineReader):
    """Reads journals. See `SessionReader`; a journal names the agent that its session is of."""

    agent = AGENT
    version = 1

    def places(self, environ: Mapping[str, str], home: Path) -> Sequence[Place]:
        """Return the folder of journals, in that of the store; whoever asks says where it is."""
        del home
        given = environ.get("FAIRTRIAL_HOME")
        return [Place(AGENT, Path(given) / FOLDER)] if given else []

    def files(self, folder: Path) -> Iterator[FoundFile]:
        """Yield the journals under a folder."""
        yield from files_under(folder, (".jsonl",))

    def recognises(self, head: Sequence[Mapping[str, object]]) -> bool:
        """Return whether the first record is the head of a journal."""
        return bool(head) and head[0].get("type") == "session" and "journal" in head[0]

    def start(self, path: Path, clean: Clean) -> Transcript:
        """See `SessionReader.start`."""
        # Its modules are not needed to see that nothing is new.
        from fairtrial.sessions.readers.recorded.transcript import (  # noqa: PLC0415
            RecordedTranscript,
        )

        return RecordedTranscript(path, clean)

    def resume(self, path: Path, clean: Clean, state: bytes) -> Transcript:
        """See `SessionReader.resume`."""
        from fairtrial.sessions.readers.recorded.transcript import (  # noqa: PLC0415  # as above
            RecordedTranscript,
        )

        return RecordedTranscript(path, clean, state)

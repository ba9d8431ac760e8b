"""Where Gemini CLI keeps its chats, and how they are recognised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial.ports.transcript_files import FoundFile, Place
from fairtrial.sessions.line_reader import LineReader
from fairtrial.sessions.walking import files_under

if TYPE_CHECKING:  # it brings what is not needed to see that nothing is new
    from fairtrial.ports.sessions import Clean, Transcript, TranscriptSource

AGENT = "gemini"


class GeminiReader(LineReader):
    """Reads Gemini CLI. See `SessionReader`."""

    agent = AGENT
    version = 1

    def places(self, environ: Mapping[str, str], home: Path) -> Sequence[Place]:
        """Return the folder of all projects' chats."""
        given = environ.get("GEMINI_CLI_HOME")
        root = Path(given).expanduser() if given else home
        return [Place(AGENT, root / ".gemini" / "tmp")]

    def files(self, folder: Path) -> Iterator[FoundFile]:
        """Yield the chats under a folder, and those of older releases: one document each."""
        for found in files_under(folder, (".jsonl", ".json")):
            if found.path.rpartition("/")[2].startswith("session-"):
                yield found

    def recognises(self, head: Sequence[Mapping[str, object]]) -> bool:
        """Return whether the first record is the header that only Gemini CLI writes."""
        return bool(head) and {"sessionId", "projectHash"} <= head[0].keys()

    def source(self, path: str) -> TranscriptSource:
        """See `SessionReader.source`."""
        if not path.endswith(".json"):
            return super().source(path)
        # Its modules are not needed to see that nothing is new.
        from fairtrial.sessions.documents import Document  # noqa: PLC0415
        from fairtrial.sessions.readers.gemini.transcript import split  # noqa: PLC0415

        return Document(path, split)

    def start(self, path: Path, clean: Clean) -> Transcript:
        """See `SessionReader.start`."""
        # Its modules are not needed to see that nothing is new.
        from fairtrial.sessions.readers.gemini.transcript import (  # noqa: PLC0415
            GeminiTranscript,
        )

        return GeminiTranscript(path, clean)

    def resume(self, path: Path, clean: Clean, state: bytes) -> Transcript:
        """See `SessionReader.resume`."""
        from fairtrial.sessions.readers.gemini.transcript import (  # noqa: PLC0415  # as above
            GeminiTranscript,
        )

        return GeminiTranscript(path, clean, state)

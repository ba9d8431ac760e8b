"""Where pi keeps its sessions, and how they are recognised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial.ports.transcript_files import FoundFile, Place
from fairtrial.sessions.line_reader import LineReader
from fairtrial.sessions.walking import files_under

if TYPE_CHECKING:  # it brings what is not needed to see that nothing is new
    from fairtrial.ports.sessions import Clean, Transcript

AGENT = "pi"


class PiReader(LineReader):
    """Reads pi. See `SessionReader`."""

    agent = AGENT
    version = 2

    def places(self, environ: Mapping[str, str], home: Path) -> Sequence[Place]:
        """Return the folder of sessions."""
        given = environ.get("PI_CODING_AGENT_DIR")
        root = Path(given).expanduser() if given else home / ".pi" / "agent"
        return [Place(AGENT, root / "sessions")]

    def files(self, folder: Path) -> Iterator[FoundFile]:
        """Yield the sessions under a folder."""
        yield from files_under(folder, (".jsonl",))

    def recognises(self, head: Sequence[Mapping[str, object]]) -> bool:
        """Return whether the first record is the header that only pi writes."""
        first = head[0] if head else {}
        return first.get("type") == "session" and "version" in first and "cwd" in first

    def start(self, path: Path, clean: Clean) -> Transcript:
        """See `SessionReader.start`."""
        # Its modules are not needed to see that nothing is new.
        from fairtrial.sessions.readers.pi.transcript import PiTranscript  # noqa: PLC0415

        return PiTranscript(path, clean)

    def resume(self, path: Path, clean: Clean, state: bytes) -> Transcript:
        """See `SessionReader.resume`."""
        from fairtrial.sessions.readers.pi.transcript import PiTranscript  # noqa: PLC0415  # as above

        return PiTranscript(path, clean, state)

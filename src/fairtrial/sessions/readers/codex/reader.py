"""Where Codex keeps its rollouts, and how they are recognised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial.ports.transcript_files import FoundFile, Place
from fairtrial.sessions.line_reader import LineReader
from fairtrial.sessions.walking import files_under

_ENVELOPE = frozenset({"type", "payload", "timestamp"})


if TYPE_CHECKING:  # it brings what is not needed to see that nothing is new
    from fairtrial.ports.sessions import Clean, Transcript

AGENT = "codex"


class CodexReader(LineReader):
    """Reads Codex. See `SessionReader`."""

    agent = AGENT
    version = 1

    def places(self, environ: Mapping[str, str], home: Path) -> Sequence[Place]:
        """Return the folders of current and of archived sessions."""
        given = environ.get("CODEX_HOME")
        root = Path(given).expanduser() if given else home / ".codex"
        return [Place(AGENT, root / "sessions"), Place(AGENT, root / "archived_sessions")]

    def files(self, folder: Path) -> Iterator[FoundFile]:
        """Yield the rollouts under a folder, packed ones too."""
        for found in files_under(folder, (".jsonl", ".jsonl.zst")):
            if found.path.rpartition("/")[2].startswith("rollout-"):
                yield found

    def recognises(self, head: Sequence[Mapping[str, object]]) -> bool:
        """Return whether a record has the envelope or the marks that only Codex writes."""
        return any(record.keys() >= _ENVELOPE or "record_type" in record for record in head)

    def start(self, path: Path, clean: Clean) -> Transcript:
        """See `SessionReader.start`."""
        # Its modules are not needed to see that nothing is new.
        from fairtrial.sessions.readers.codex.transcript import CodexTranscript  # noqa: PLC0415

        return CodexTranscript(path, clean)

    def resume(self, path: Path, clean: Clean, state: bytes) -> Transcript:
        """See `SessionReader.resume`."""
        from fairtrial.sessions.readers.codex.transcript import CodexTranscript  # noqa: PLC0415  # as above

        return CodexTranscript(path, clean, state)

"""Where Codex keeps its rollouts, and how they are recognised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fairtrial.ports.sessions import Clean, Place
from fairtrial.sessions.readers.codex.transcript import AGENT, CodexTranscript
from fairtrial.sessions.walking import files_under

_ENVELOPE = frozenset({"type", "payload", "timestamp"})


class CodexReader:
    """Reads Codex. See `SessionReader`."""

    agent = AGENT
    version = 1

    def places(self, environ: Mapping[str, str], home: Path) -> Sequence[Place]:
        """Return the folders of current and of archived sessions."""
        given = environ.get("CODEX_HOME")
        root = Path(given).expanduser() if given else home / ".codex"
        return [Place(AGENT, root / "sessions"), Place(AGENT, root / "archived_sessions")]

    def files(self, folder: Path) -> Iterator[Path]:
        """Yield the rollouts under a folder, packed ones too."""
        for path in files_under(folder, (".jsonl", ".jsonl.zst")):
            if path.name.startswith("rollout-"):
                yield path

    def recognises(self, head: Sequence[Mapping[str, object]]) -> bool:
        """Return whether a record has the envelope or the marks that only Codex writes."""
        return any(record.keys() >= _ENVELOPE or "record_type" in record for record in head)

    def start(self, path: Path, clean: Clean) -> CodexTranscript:
        """See `SessionReader.start`."""
        return CodexTranscript(path, clean)

    def resume(self, path: Path, clean: Clean, state: bytes) -> CodexTranscript:
        """See `SessionReader.resume`."""
        return CodexTranscript(path, clean, state)

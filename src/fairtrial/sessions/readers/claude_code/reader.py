"""Where Claude Code keeps its transcripts, and how they are recognised."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial.ports.transcript_files import FoundFile, Place
from fairtrial.sessions.line_reader import LineReader
from fairtrial.sessions.walking import files_under

_OWN = ("parentUuid", "sessionId", "isSidechain")


if TYPE_CHECKING:  # it brings what is not needed to see that nothing is new
    from fairtrial.ports.sessions import Clean, Transcript

AGENT = "claude-code"


class ClaudeCodeReader(LineReader):
    """Reads Claude Code. See `SessionReader`."""

    agent = AGENT
    version = 2

    def places(self, environ: Mapping[str, str], home: Path) -> Sequence[Place]:
        """Return `projects` of the configured folders, or of `~/.claude` and `~/.config/claude`."""
        given = environ.get("CLAUDE_CONFIG_DIR")
        if given:
            roots = [Path(part).expanduser() for part in given.split(os.pathsep) if part]
        else:
            roots = [home / ".claude", home / ".config" / "claude"]
        return [Place(AGENT, root / "projects") for root in roots]

    def files(self, folder: Path) -> Iterator[FoundFile]:
        """Yield the transcripts under a folder."""
        yield from files_under(folder, (".jsonl",))

    def recognises(self, head: Sequence[Mapping[str, object]]) -> bool:
        """Return whether a record has the fields that only Claude Code writes."""
        return any(sum(name in record for name in _OWN) >= 2 for record in head) or any(
            "sessionId" in record and "type" in record for record in head
        )

    def start(self, path: Path, clean: Clean) -> Transcript:
        """See `SessionReader.start`."""
        # Its modules are not needed to see that nothing is new.
        from fairtrial.sessions.readers.claude_code.transcript import ClaudeTranscript  # noqa: PLC0415

        return ClaudeTranscript(path, clean)

    def resume(self, path: Path, clean: Clean, state: bytes) -> Transcript:
        """See `SessionReader.resume`."""
        from fairtrial.sessions.readers.claude_code.transcript import ClaudeTranscript  # noqa: PLC0415  # as above

        return ClaudeTranscript(path, clean, state)

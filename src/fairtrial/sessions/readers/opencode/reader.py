"""Where OpenCode keeps its sessions, and how they are recognised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial.ports.transcript_files import FoundFile, Place

if TYPE_CHECKING:  # it brings what is not needed to see that nothing is new
    from fairtrial.ports.sessions import Clean, Transcript, TranscriptSource

AGENT = "opencode"
_TABLES = frozenset({"session", "message", "part"})


class OpenCodeReader:
    """Reads the database of OpenCode, and what `opencode export` prints. See `SessionReader`."""

    agent = AGENT
    version = 1

    def places(self, environ: Mapping[str, str], home: Path) -> Sequence[Place]:
        """Return the folder of the database, and the database itself where it is elsewhere."""
        given = environ.get("XDG_DATA_HOME")
        root = (Path(given) if given else home / ".local" / "share") / "opencode"
        own = environ.get("OPENCODE_DB", "")
        places = [Place(AGENT, root)]
        if own and own != ":memory:":
            places.append(Place(AGENT, root / own))
        return places

    def files(self, folder: Path) -> Iterator[FoundFile]:
        """Yield the databases in a folder: one, or one for each channel of releases."""
        try:
            found = sorted(folder.glob("opencode*.db")) if folder.is_dir() else [folder]
            yield from (_database(path) for path in found if path.is_file())
        except OSError:
            return

    def recognises(self, head: Sequence[Mapping[str, object]]) -> bool:
        """Return whether a database has OpenCode's tables, or a document is an export of it."""
        first = head[0] if head else {}
        told = first.get("tables")
        if isinstance(told, list):
            return set(told) >= _TABLES
        info = first.get("info")
        return (
            isinstance(info, Mapping)
            and isinstance(first.get("messages"), list)
            and str(info.get("id")).startswith("ses")
        )

    def source(self, path: str) -> TranscriptSource:
        """See `SessionReader.source`."""
        # Its modules are not needed to see that nothing is new.
        from fairtrial.sessions.readers.opencode.database import source_of  # noqa: PLC0415

        return source_of(path)

    def start(self, path: Path, clean: Clean) -> Transcript:
        """See `SessionReader.start`."""
        from fairtrial.sessions.readers.opencode.transcript import (  # noqa: PLC0415  # as above
            OpenCodeTranscript,
        )

        return OpenCodeTranscript(path, clean)

    def resume(self, path: Path, clean: Clean, state: bytes) -> Transcript:
        """See `SessionReader.resume`."""
        from fairtrial.sessions.readers.opencode.transcript import (  # noqa: PLC0415  # as above
            OpenCodeTranscript,
        )

        return OpenCodeTranscript(path, clean, state)


def _database(path: Path) -> FoundFile:
    """Return a database as it is together with its log, in which the newest changes are."""
    told = path.stat()
    size, changed_ns = told.st_size, told.st_mtime_ns
    try:
        log = path.with_name(f"{path.name}-wal").stat()
    except OSError:
        pass  # nobody has it open
    else:
        size, changed_ns = size + log.st_size, max(changed_ns, log.st_mtime_ns)
    return FoundFile(str(path), told.st_ino, size, changed_ns)

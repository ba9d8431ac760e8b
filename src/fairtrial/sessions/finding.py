"""Which files of which agents are new: by what the file system tells of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial.ports.transcript_files import FoundFile, Place

if TYPE_CHECKING:  # it brings what is not needed to see that nothing is new
    from fairtrial.ports.sessions import SessionReader


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that is not read yet, or was changed since.

    Attributes:
        reader: The reader of its agent.
        found: The file.
    """

    reader: SessionReader
    found: FoundFile


def found_files(readers: Sequence[SessionReader], places: Iterable[Place]) -> Iterator[NewFile]:
    """Yield the files of places that may be transcripts; a file in two places once."""
    by_agent = {reader.agent: reader for reader in readers}
    seen: set[str] = set()
    for place in places:
        reader = by_agent[place.agent]
        for found in reader.files(place.folder):
            if found.path not in seen:
                seen.add(found.path)
                yield NewFile(reader, found)


def changed(
    files: Iterable[NewFile], known: Mapping[str, tuple[int, int, int, int, int]]
) -> list[NewFile]:
    """Return the files that were not read as they are now.

    Args:
        files: All that were found.
        known: Of each known file the inode, the size, the time of change, the offset and the
            version of the reader. An offset of -1 says that its session was removed.
    """
    return [file for file in files if not _is_read(file, known.get(file.found.path))]


def _is_read(file: NewFile, known: tuple[int, int, int, int, int] | None) -> bool:
    if known is None:
        return False
    inode, size, changed_ns, offset, version = known
    found = file.found
    same = (found.inode, found.size, found.changed_ns) == (inode, size, changed_ns)
    return offset < 0 or (same and version == file.reader.version)


def places_of(
    readers: Sequence[SessionReader], environ: Mapping[str, str], home: Path
) -> list[Place]:
    """Return where the agents of a user keep their transcripts."""
    return [place for reader in readers for place in reader.places(environ, home)]

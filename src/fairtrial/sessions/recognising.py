"""Whose transcript a file is, by what stands in it: names and first lines tell nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from fairtrial.ports.sessions import SessionReader
from fairtrial.ports.transcript_files import FoundFile
from fairtrial.sessions.databases import MAGIC, tables
from fairtrial.sessions.documents import decoded
from fairtrial.sessions.finding import NewFile
from fairtrial.sessions.lines import lines
from fairtrial.sessions.tolerant import plain
from fairtrial.sessions.walking import files_under

_RECORDS: Final = 50
_ENDINGS: Final = (".jsonl", ".jsonl.zst", ".json", ".db")
_LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a document beyond which it is not looked into: not every one is a transcript."""


def recognised(readers: Sequence[SessionReader], folder: Path) -> Iterator[NewFile]:
    """Yield the transcripts under a folder, each with its reader; other files are passed over."""
    for found in files_under(folder, _ENDINGS):
        reader = _reader(readers, found)
        if reader is not None:
            # A reader may know more of a file, e.g. that another one belongs to it.
            told = next(iter(reader.files(Path(found.path))), found)
            yield NewFile(reader, told)


def _reader(readers: Sequence[SessionReader], found: FoundFile) -> SessionReader | None:
    try:
        head = _head(Path(found.path), found.size)
    except OSError:
        return None
    return next((reader for reader in readers if reader.recognises(head)), None)


def _head(path: Path, size: int) -> list[Mapping[str, object]]:
    """Return the first records of a file, the document that it is, or the tables that it has.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        if file.read(len(MAGIC)) == MAGIC:
            return [{"tables": tables(path)}]
    if path.suffix == ".json":
        document = decoded(path.read_bytes())[0] if size <= _LARGEST else None
        return [] if document is None else [document]
    return [
        record
        for line in islice(lines(path), _RECORDS)
        if line.data is not None and (record := plain(line.data)) is not None
    ]

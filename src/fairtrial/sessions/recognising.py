"""Whose transcript a file is, by what stands in it: names and first lines tell nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from fairtrial.ports.sessions import SessionReader
from fairtrial.ports.transcript_files import FoundFile
from fairtrial.sessions.finding import NewFile
from fairtrial.sessions.lines import lines
from fairtrial.sessions.tolerant import plain
from fairtrial.sessions.walking import files_under

_RECORDS: Final = 50
_ENDINGS: Final = (".jsonl", ".jsonl.zst")


def recognised(readers: Sequence[SessionReader], folder: Path) -> Iterator[NewFile]:
    """Yield the transcripts under a folder, each with its reader; other files are passed over."""
    for found in files_under(folder, _ENDINGS):
        reader = _reader(readers, found)
        if reader is not None:
            yield NewFile(reader, found)


def _reader(readers: Sequence[SessionReader], found: FoundFile) -> SessionReader | None:
    try:
        head = [
            record
            for line in islice(lines(Path(found.path)), _RECORDS)
            if line.data is not None and (record := plain(line.data)) is not None
        ]
    except OSError:
        return None
    return next((reader for reader in readers if reader.recognises(head)), None)

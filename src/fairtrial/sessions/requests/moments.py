"""Where in a transcript the events of a session were read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISREG
from typing import Final

from fairtrial.model.json import Json
from fairtrial.model.session import Call, Result, SessionEvent
from fairtrial.ports.sessions import Clean, SessionReader
from fairtrial.sessions.tolerant import plain

LARGEST: Final = 128 * 1024 * 1024
"""Bytes of a transcript that is read again."""


@dataclass(frozen=True, slots=True)
class Told:
    """A transcript with the places of some events.

    Attributes:
        records: Its records in order; None for lines that hold none, or one that is not needed.
        places: For each event that was looked for, the position of its record; None when it is
            not in the file any more.
    """

    records: Sequence[dict[str, Json] | None]
    places: Sequence[int | None]


def read_again(
    reader: SessionReader,
    path: str,
    sought: Sequence[SessionEvent],
    kinds: Collection[str],
    clean: Clean,
) -> Told:
    """Read a transcript again, and find where events of it stand.

    Args:
        reader: The reader of its agent.
        path: The file.
        sought: Events as the store keeps them.
        kinds: Types of records that are needed.
        clean: What the events were cleaned with.

    Raises:
        OSError: it cannot be read, is no file, or is too large.
    """
    found = Path(path).stat()
    if not S_ISREG(found.st_mode):  # a pipe would be waited for, and a device never ends
        raise OSError("it is no file")
    if found.st_size > LARGEST:
        raise OSError(f"it is larger than {LARGEST // 1024**2} MB")
    transcript = reader.start(Path(path), clean)
    left: dict[object, list[int]] = {}
    for place, event in enumerate(sought):
        left.setdefault(_key(event), []).append(place)
    records: list[dict[str, Json] | None] = []
    places: list[int | None] = [None] * len(sought)
    for number, line in enumerate(_lines(reader, path)):
        for event in transcript.feed(line):
            for place in left.pop(_key(event), ()):
                places[place] = number
        record = plain(line)
        kind = None if record is None else record.get("type")
        records.append(record if isinstance(kind, str) and kind in kinds else None)
    return Told(records, places)


def _lines(reader: SessionReader, path: str) -> Iterator[bytes]:
    for line in reader.source(path).lines(0):
        yield line.data or b""


def _key(event: SessionEvent) -> object:
    """Return what tells an event from the others of its file, whatever its number.

    A result may come twice, when a command ended in the background; then its status differs.
    """
    match event:
        case Call():
            return event.kind, event.id
        case Result():
            return event.kind, event.call_id, event.status
        case _:
            # An event may hold what cannot be hashed; its words can.
            return repr(replace(event, number=0))

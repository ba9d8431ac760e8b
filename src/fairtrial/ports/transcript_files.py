"""Where transcripts are. Apart from `sessions`: to see that nothing is new, this is enough."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """Where an agent keeps its transcripts.

    Attributes:
        agent: The agent.
        folder: The folder, which need not exist.
    """

    agent: str
    folder: Path


class FoundFile(NamedTuple):
    """A file that may be a transcript, as the file system tells of it.

    It may also be one session in a database, as that tells of it.

    Attributes:
        path: The file; of a session in a database `file#session`.
        inode: Its number in the file system; 0 in a database.
        size: Its bytes; in a database its rows.
        changed_ns: When it was last changed, nanoseconds.
    """

    path: str
    inode: int
    size: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class Line:
    """A whole record of a transcript: a line without its end, or what stands for one.

    Attributes:
        data: Its bytes; None when it is longer than is read.
        end: How far the transcript is read with it; in a file of lines, the offset of the byte
            after it.
    """

    data: bytes | None
    end: int

"""Where transcripts are. Apart from `sessions`: to see that nothing is new, this is enough."""

from __future__ import annotations

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

    Attributes:
        path: The file.
        inode: Its number in the file system.
        size: Its bytes.
        changed_ns: When it was last changed, nanoseconds.
    """

    path: str
    inode: int
    size: int
    changed_ns: int

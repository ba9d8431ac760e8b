"""Reading one file, or what was added to it, into what a store keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fairtrial.model.session import MAIN, Prompt, SessionEvent, Source, Usage
from fairtrial.ports.sessions import (
    PARTIAL,
    Clean,
    FileMark,
    FileReading,
    PackedEvents,
    PricedUsage,
    SessionReader,
    Transcript,
    TranscriptSource,
)
from fairtrial.ports.transcript_files import FoundFile
from fairtrial.sessions.pricing import CallPrices
from fairtrial.sessions.repositories import Repositories

PART: Final = 32 * 1024 * 1024
"""Bytes of a file that are read before they are saved: what is in memory of it is not more."""
_CHUNK: Final = 8 * 1024 * 1024
"""Bytes of lines whose events are packed together."""
_SEARCHED: Final = 64 * 1024


@dataclass(frozen=True)
class Ways:
    """What reading needs beside the file.

    Attributes:
        clean: Takes secrets out of a line.
        pack: Makes stored events.
        prices: What model calls cost.
        repositories: Finds the repository around a folder.
    """

    clean: Clean
    pack: Callable[[Sequence[SessionEvent]], PackedEvents]
    prices: CallPrices
    repositories: Repositories


@dataclass
class _Taken:
    """What was read so far."""

    ways: Ways
    chunks: list[PackedEvents] = field(default_factory=list)
    events: list[SessionEvent] = field(default_factory=list)
    usages: dict[str, Usage] = field(default_factory=dict)
    prompts: list[str] = field(default_factory=list)
    searched: int = 0
    size: int = 0
    whole: list[SessionEvent] | None = None

    def take(self, events: Iterable[SessionEvent], size: int) -> None:
        """Take the events of a line of so many bytes."""
        for event in events:
            self.events.append(event)
            if isinstance(event, Usage):
                self.usages[event.message_id] = event
            elif isinstance(event, Prompt):
                self._search(event)
        self.size += size
        if self.size > _CHUNK:
            self.pack()

    def _search(self, event: Prompt) -> None:
        wanted = event.thread == MAIN and event.source in (Source.HUMAN, Source.SDK)
        if wanted and self.searched < _SEARCHED:
            self.prompts.append(event.text)
            self.searched += len(event.text)

    def pack(self) -> None:
        """Pack what is not packed yet."""
        self.whole = None if self.chunks else self.events
        if self.events:
            self.chunks.append(self.ways.pack(self.events))
        self.events, self.size = [], 0


def priced(usages: Iterable[Usage], prices: CallPrices) -> list[PricedUsage]:
    """Return model calls with what they cost, unless the agent tells it itself."""
    return [
        PricedUsage(
            usage,
            prices.cost_usd(usage.model, usage.tokens)
            if usage.cost_usd is None
            else usage.cost_usd,
        )
        for usage in usages
    ]


def continues(source: TranscriptSource, found: FoundFile, mark: FileMark, version: int) -> bool:
    """Return whether a file only grew since it was read, so that reading goes on where it ended.

    Raises:
        OSError: the file cannot be read.
    """
    return (
        mark.version == version
        and mark.inode == found.inode
        and found.size >= mark.offset > 0
        and mark.tail != b""
        and source.tail(mark.offset) == mark.tail
    )


def read_file(
    reader: SessionReader,
    source: TranscriptSource,
    found: FoundFile,
    ways: Ways,
    before: tuple[FileMark, bytes] | None,
    most: int | None = None,
) -> tuple[FileReading, Sequence[SessionEvent] | None]:
    """Return what a file, or its new part, brings, and the events in it unless they are many.

    Args:
        reader: The reader of its agent.
        source: The file as records.
        found: The file, as it was when it was found; it may grow meanwhile.
        ways: What reading needs.
        before: How far it was read and the state of then; None to read it from its start.
        most: About how many bytes to read. The mark of a larger file is partial then, if reading
            may go on in the middle of it.

    Raises:
        OSError: the file cannot be read.
    """
    path = Path(found.path)
    offset = 0
    if before is None:
        transcript = reader.start(path, ways.clean)
    else:
        offset = before[0].offset
        transcript = reader.resume(path, ways.clean, before[1])
    taken = _Taken(ways)
    offset, is_whole = _fed(transcript, source, offset, taken, most)
    taken.pack()
    facts = transcript.facts()
    reading = FileReading(
        mark=FileMark(
            path=found.path,
            inode=found.inode,
            size=found.size,
            changed_ns=found.changed_ns if is_whole else PARTIAL,
            offset=offset,
            tail=source.tail(offset),
            version=reader.version,
        ),
        facts=facts,
        state=transcript.state(),
        chunks=taken.chunks,
        usages=priced(taken.usages.values(), ways.prices),
        prompts="\n".join(taken.prompts),
        repo=ways.repositories.around(facts.cwd),
        anew=before is None,
    )
    return reading, taken.whole


def _fed(
    transcript: Transcript, source: TranscriptSource, offset: int, taken: _Taken, most: int | None
) -> tuple[int, bool]:
    """Feed lines from an offset on; return the end of the last one, and whether it is the last."""
    size = 0
    for line in source.lines(offset):
        if most is not None and size >= most and offset > 0:
            if source.tail(offset):
                return offset, False
            most = None  # reading cannot go on at an offset
        offset = line.end
        if line.data is None:
            transcript.clipped()
        else:
            taken.take(transcript.feed(line.data), len(line.data))
            size += len(line.data)
    return offset, True

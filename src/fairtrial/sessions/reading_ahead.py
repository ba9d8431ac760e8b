"""Processes that read transcripts ahead, as many as there are cores; this one only writes.

A new interpreter each, never a fork: a process that has threads must not be forked, and one that
serves has many.
"""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Final, TypeAlias

import msgspec

from fairtrial.model.flag import Flag
from fairtrial.model.session import Session
from fairtrial.ports.sessions import FileMark, FileReading
from fairtrial.sessions.finding import NewFile
from fairtrial.sessions.helping import (
    Answer,
    Brought,
    Drop,
    Flagged,
    Look,
    Read,
    Setup,
    frame,
    frames,
)
from fairtrial.sessions.reading import PART

_BYTES_EACH: Final = 8 * 1024 * 1024
_FILES_EACH: Final = 64
"""What a process is given ahead of its answers: enough to work on while this one writes."""
_AHEAD: Final = 256
"""Answers that may wait for the one before them."""
_WORTH: Final = 16 * 1024 * 1024
"""Bytes from which on another process starts up faster than this one reads them."""
_BYTES_A_PROCESS: Final = 8 * 1024 * 1024
_MOST: Final = 8
"""Processes beyond which the one that writes would not keep up."""

Before: TypeAlias = tuple[FileMark, bytes] | None
Task: TypeAlias = tuple[int, NewFile | None, Before]
"""A key, a file, and how far it was read before; without a file the caller reads it itself."""
Findings: TypeAlias = tuple[list[Flag], list[str]]


def processes_for(sizes: Sequence[int], cores: int) -> int:
    """Return how many processes should read files of so many bytes; 0 is this one alone.

    Large files do not count: they are read in parts, and each part is saved before the next.
    """
    sizes = [size for size in sizes if size <= PART]
    beside_the_largest = sum(sizes) - max(sizes, default=0)
    if cores < 2 or beside_the_largest < _WORTH:
        return 0
    return min(cores, _MOST, len(sizes), beside_the_largest // _BYTES_A_PROCESS)


@dataclass(eq=False)
class _Helper:
    """A process, and what it was asked and has not answered yet."""

    process: subprocess.Popen[bytes]
    thread: threading.Thread | None = None
    reads: dict[int, int] = field(default_factory=dict)
    looks: set[int] = field(default_factory=set)
    alive: bool = True

    @property
    def size(self) -> int:
        """Bytes that it still has to read."""
        return sum(self.reads.values())

    def has_room(self) -> bool:
        if not self.alive:
            return False
        return not self.reads or (self.size < _BYTES_EACH and len(self.reads) < _FILES_EACH)

    def tell(self, message: bytes) -> bool:
        """Send a message; return whether it could be sent."""
        pipe = self.process.stdin
        if pipe is None or not self.alive:
            return False
        try:
            pipe.write(message)
            pipe.flush()
        except OSError:
            return False  # it died; its thread sees it too
        return True


class ReadingAhead:
    """Reads files in other processes, and lets rules look at their sessions there.

    What such a process cannot do is left to the caller, so that nothing is lost by it.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], count: int) -> None:
        """Start the processes; they start up while this one does something else.

        Args:
            argv: The program, which calls `helping.serve`.
            env: Its environment.
            count: How many.
        """
        self._answers: queue.SimpleQueue[tuple[_Helper, bytes | None]] = queue.SimpleQueue()
        self._pending: Iterator[Task] = iter(())
        self._holders: dict[int, _Helper] = {}
        self._brought: dict[int, FileReading | None] = {}
        self._findings: dict[int, Findings | None] = {}
        self._decoder = msgspec.msgpack.Decoder(Answer)
        self._helpers: list[_Helper] = []
        self.troubles: list[str] = []
        for _ in range(count):
            self._start(argv, env)

    def _start(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        try:
            process = subprocess.Popen(  # noqa: S603  # our own interpreter and our own code
                argv,
                env=dict(env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is not for it
            )
        except OSError as error:
            self.troubles.append(f"no process to read transcripts could be started: {error}")
            return
        helper = _Helper(process)
        helper.thread = threading.Thread(
            target=_listen, args=(helper, self._answers), name="reading-ahead", daemon=True
        )
        helper.thread.start()
        self._helpers.append(helper)

    def set_up(self, home: Path, muted: Sequence[str]) -> None:
        """Tell the processes what they need beside files.

        Args:
            home: Folder of the store.
            muted: Names of rules that do not look.
        """
        setup = frame(Setup(sys.path, str(home), list(muted)))
        for helper in self._helpers:
            helper.tell(setup)

    def begin(self, tasks: Iterator[Task]) -> None:
        """Give the files that are to be read, in the order in which they are asked for."""
        self._pending = tasks
        self._fill()

    def reading(self, key: int) -> FileReading | None:
        """Return what a file brought, its model calls not priced; None if it is to be read here."""
        while key not in self._brought:
            if not any(helper.alive for helper in self._helpers):
                return None
            self._take(*self._answers.get())
        found = self._brought.pop(key)
        self._fill()
        return found

    def holds(self, key: int) -> bool:
        """Return whether the events of a file are still held by the process that read it."""
        holder = self._holders.get(key)
        return holder is not None and holder.alive

    def look(self, key: int, session: Session, now: datetime) -> None:
        """Let the rules look at a session whose events are held."""
        helper = self._holders.pop(key)
        try:
            message = frame(Look(key, session, now))
        except (ValueError, OverflowError, TypeError):
            helper.tell(frame(Drop(key)))
            self._findings[key] = None
            return
        helper.looks.add(key)
        if not helper.tell(message):
            helper.looks.discard(key)
            self._findings[key] = None

    def findings(self, key: int) -> Findings | None:
        """Return what `look` found; None if the rules are to look here."""
        while key not in self._findings:
            self._take(*self._answers.get())
        return self._findings.pop(key)

    def drop(self, key: int) -> None:
        """Hold the events of a file no longer."""
        helper = self._holders.pop(key, None)
        if helper is not None:
            helper.tell(frame(Drop(key)))

    def close(self) -> None:
        """End the processes, whatever they do."""
        for helper in self._helpers:
            helper.process.kill()
        for helper in self._helpers:
            helper.process.wait()
            if helper.thread is not None:
                helper.thread.join()
            for pipe in (helper.process.stdin, helper.process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()

    def _fill(self) -> None:
        """Give out files as long as there is somebody to read them, and not too far ahead."""
        while len(self._brought) < _AHEAD:
            free = [helper for helper in self._helpers if helper.has_room()]
            task = next(self._pending, None) if free else None
            if task is None:
                return
            self._give(task, min(free, key=lambda helper: helper.size))

    def _give(self, task: Task, helper: _Helper) -> None:
        key, file, before = task
        self._brought[key] = None  # to be read by the caller
        if file is None:
            return
        try:
            message = frame(Read(key, file.reader.agent, file.found, before))
        except (ValueError, OverflowError, TypeError):  # a state that is none
            return
        if helper.tell(message):
            del self._brought[key]
            offset = 0 if before is None else before[0].offset
            helper.reads[key] = max(1, file.found.size - offset)

    def _take(self, helper: _Helper, data: bytes | None) -> None:
        if data is None:
            self._lost(helper)
        else:
            answer: Answer = self._decoder.decode(data)
            self._answered(helper, answer)
        self._fill()

    def _answered(self, helper: _Helper, answer: Answer) -> None:
        key = answer.key
        if isinstance(answer, Brought):
            self._brought[key] = answer.reading
            if answer.held:
                self._holders[key] = helper
        elif isinstance(answer, Flagged):
            self._findings[key] = answer.flags, answer.troubles
        elif key in helper.reads:
            self._brought[key] = None
        else:
            self._findings[key] = None
        helper.reads.pop(key, None)
        helper.looks.discard(key)

    def _lost(self, helper: _Helper) -> None:
        """Leave to the caller what a process that died has not done."""
        helper.alive = False
        status = helper.process.wait()
        self.troubles.append(
            f"a process that reads transcripts ended with {status}; they were read without it"
        )
        self._brought |= dict.fromkeys(helper.reads)
        self._findings |= dict.fromkeys(helper.looks)
        helper.reads.clear()
        helper.looks.clear()


def _listen(helper: _Helper, answers: queue.SimpleQueue[tuple[_Helper, bytes | None]]) -> None:
    pipe: IO[bytes] | None = helper.process.stdout
    if pipe is not None:
        with suppress(OSError):
            for data in frames(pipe):
                answers.put((helper, data))
    answers.put((helper, None))

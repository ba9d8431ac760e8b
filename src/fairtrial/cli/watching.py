"""`exp run --watch`: a line for each run, until `q` or Ctrl-C."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from enum import Enum
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from fairtrial.app.bench import Bench
from fairtrial.app.requests.exp_run import Request
from fairtrial.app.watching import Watch, WatchedRun, What, check_watched
from fairtrial.cli import streams
from fairtrial.cli.harmless import harmless
from fairtrial.cli.interrupts import stoppable
from fairtrial.cli.progress import watched
from fairtrial.cli.render.words import counted, percent
from fairtrial.engine.control import Control
from fairtrial.model.errors import ExitCode
from fairtrial.model.experiment import Status

_RECHECK_MS = 2_000
"""Files are looked at once in a while in any case: not every file system tells of changes."""
_TOGETHER_MS = 300
"""Changes that come within this time are one."""


class Wake(Enum):
    """Why a wait is over."""

    CHANGED = "changed"
    """Something may have changed."""
    AGAIN = "again"
    """The user wants a run."""
    QUIT = "quit"
    """The user has had enough."""


class Source(Protocol):
    """Tells when to look again."""

    def wait(self, folders: Collection[Path]) -> Wake:
        """Return when something may have changed in one of the folders, or the user says so."""
        ...

    def close(self) -> None:
        """End what was begun for it."""
        ...


def watched_runs(
    bench: Bench,
    request: Request,
    build: Callable[[], Request],
    *,
    as_json: bool,
    source: Source | None = None,
) -> int:
    """Run whenever something changes, print a line each time, and return the exit code.

    Args:
        bench: The workbench.
        request: What was asked.
        build: Reads the spec and the options anew.
        as_json: Print an object a line instead of text.
        source: What tells of changes; None is the file system, and the keys of a terminal.

    Raises:
        UsageError: options that go with one run only.
    """
    check_watched(request)
    watch = Watch(build)
    usual = {bench.cwd} | ({request.spec.parent} if request.spec is not None else set())
    waker: Source = FilesAndKeys() if source is None else source
    return until_ended(waker, lambda: _loop(bench, watch, waker, usual, as_json=as_json))


def until_ended(waker: Source, loop: Callable[[], int]) -> int:
    """Return the exit code of a loop of runs; Ctrl-C between two runs ends it well."""
    try:
        with _sigterm_as(_Terminated):
            return loop()
    except KeyboardInterrupt:
        streams.tell("\n")
        return ExitCode.OK
    except _Terminated:
        return ExitCode.INTERRUPTED
    finally:
        waker.close()


def _loop(
    bench: Bench, watch: Watch, source: Source, usual: Collection[Path], *, as_json: bool
) -> int:
    again = False
    while True:
        due = watch.due(bench, again=again)
        again = False
        while watch.notes:
            streams.tell(f"{harmless(watch.notes.pop(0))}\n")
        if isinstance(due, WatchedRun):
            _print(due, as_json=as_json)
        elif due is not None:
            turn, stopped = _turn(bench, watch, due)
            _print(turn, as_json=as_json)
            if stopped:
                return ExitCode.INTERRUPTED
            if turn.number == 1 and turn.state is None and not watch.could_be_mended:
                return turn.exit_code
            if turn.number == 1:
                _explain(watch)
            continue  # something may have changed meanwhile
        folders = usual if watch.content is None else {*usual, *watch.content.folders}
        wake = source.wait(folders)
        if wake is Wake.QUIT:
            return ExitCode.OK
        again = wake is Wake.AGAIN


def _turn(bench: Bench, watch: Watch, what: What) -> tuple[WatchedRun, bool]:
    """Do what is due; return it, and whether the user stopped it."""
    control = Control()
    with one_run(bench, control) as own:
        turn = watch.turn(own, what)
    return turn, was_stopped(control)


@contextlib.contextmanager
def one_run(bench: Bench, control: Control) -> Iterator[Bench]:
    """Yield a bench for one run of several, with progress and a way to stop that run alone."""
    own = dataclasses.replace(bench, control=control)
    if "store" in bench.__dict__:
        own.__dict__["store"] = bench.store
    try:
        with (
            streams.kept_for_the_report(),
            stoppable(own.control),
            watched(own) as watched_bench,
        ):
            yield watched_bench
    finally:
        if "store" in own.__dict__:  # whoever owns the bench closes it
            bench.__dict__["store"] = own.store


def was_stopped(control: Control) -> bool:
    """Return whether the user stopped a run."""
    return control.drain_reason is not None and not control.by_rule


def _explain(watch: Watch) -> None:
    found = watch.content
    files = 0 if found is None else len(found.task_files) + len(found.grader_files)
    keys = "Enter runs again, q quits" if _has_keys() else "Ctrl-C ends it"
    streams.tell(f"watching {counted(files, 'file')}; {keys}\n")


def _print(turn: WatchedRun, *, as_json: bool) -> None:
    if as_json:
        text = json.dumps(turn.json(), ensure_ascii=False, allow_nan=False)
        streams.write_document(lambda out: out.write(text + "\n"))
    else:
        streams.write_text(f"{datetime.now().astimezone():%H:%M:%S}  {line_of(turn)}\n")


def line_of(turn: WatchedRun) -> str:
    """Return a turn in one line."""
    head = f"{turn.what} {turn.number}"
    state = turn.state
    if state is None or turn.rate is None:
        return f"{head}  {harmless(' '.join(str(turn.error).split()))}"
    name = harmless(state.experiment.name)
    rate = turn.rate
    parts = [head, name, state.experiment.id, f"{percent(rate.estimate)} of {rate.n:,}"]
    if state.status_reason:
        parts.append(f"{state.status.value}: {harmless(state.status_reason)}")
    if state.status is Status.FINISHED and turn.exit_code is ExitCode.NO_VERDICT:
        parts.append("no quality verdict: no grader judged any output")
    if turn.delta is not None:
        parts.append(harmless(turn.delta.sentence()))
    if turn.flips is not None:
        parts.append(f"{counted(turn.flips, 'verdict')} flipped")
    return "  ".join(parts)


class _Terminated(BaseException):
    """SIGTERM came while nothing ran: the terminal is left as it was found."""


@contextlib.contextmanager
def _sigterm_as(kind: type[BaseException]) -> Iterator[None]:
    def raise_it(_signal: int, _frame: FrameType | None) -> None:
        raise kind

    before = signal.signal(signal.SIGTERM, raise_it)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class FilesAndKeys:
    """The changes that the file system tells of, and the keys of the terminal, if there is one."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        self._watched: frozenset[Path] = frozenset()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._keys = _has_keys()

    def wait(self, folders: Collection[Path]) -> Wake:
        """See `Source.wait`."""
        self._follow(frozenset(folders))
        with _single_keys() if self._keys else contextlib.nullcontext():
            while True:
                inputs = [self._read, *([sys.stdin.fileno()] if self._keys else [])]
                ready, _, _ = select.select(inputs, [], [])
                if self._read in ready:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._read, 65_536)
                    return Wake.CHANGED
                wake = self._key()
                if wake is not None:
                    return wake

    def close(self) -> None:
        """See `Source.close`."""
        self._stop()
        os.close(self._read)
        os.close(self._write)

    def _key(self) -> Wake | None:
        key = os.read(sys.stdin.fileno(), 1)
        if not key:  # the terminal is gone
            self._keys = False
        return {b"\n": Wake.AGAIN, b"\r": Wake.AGAIN, b"q": Wake.QUIT, b"Q": Wake.QUIT}.get(key)

    def _follow(self, folders: frozenset[Path]) -> None:
        if folders == self._watched and self._thread is not None and self._thread.is_alive():
            return
        self._stop()
        self._watched, self._over = folders, threading.Event()
        self._thread = threading.Thread(
            target=self._tell_of_changes, args=(folders, self._over), daemon=True
        )
        self._thread.start()

    def _stop(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _tell_of_changes(self, folders: frozenset[Path], over: threading.Event) -> None:
        from watchfiles import watch  # noqa: PLC0415  # 0.15 s, off the main thread

        changes: Iterator[Any] = watch(
            *sorted(folders),
            watch_filter=None,
            debounce=_TOGETHER_MS,
            rust_timeout=_RECHECK_MS,
            yield_on_timeout=True,
            stop_event=over,
            raise_interrupt=False,
            recursive=False,
        )
        try:
            for _ in changes:
                os.write(self._write, b".")
        except OSError:  # a folder is gone, or there are too many: look again in a while
            if not over.wait(_RECHECK_MS / 1000):
                os.write(self._write, b".")


def _has_keys() -> bool:
    try:
        return sys.stdin.isatty()
    except (AttributeError, ValueError):  # closed
        return False


@contextlib.contextmanager
def _single_keys() -> Iterator[None]:
    """Read the terminal key by key."""
    import termios  # noqa: PLC0415  # only on a terminal
    import tty  # noqa: PLC0415

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSANOW)  # what was typed during a run counts
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)

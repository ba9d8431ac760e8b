"""The folder in which hooks leave what they know, until it is brought into the store.

Hooks never open the store: it may be locked, or newer than they are, and opening it takes longer
than an agent should be held up. They write small files, each whole or not at all:
`sessions/` what is known of sessions that go on, `snapshots/` snapshots that were taken,
`finished/` sessions whose transcript is to be read, `events/` the last event of each agent, and
`errors.jsonl` what went wrong.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,80}")
_MOST_ERRORS: Final = 256 * 1024
_POLL_S: Final = 0.01
_LONG_AGO_S: Final = 30 * 86_400.0


class CaptureFolder:
    """The folder of capture in a data folder.

    Attributes:
        path: The folder; it is made when something is first written.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / "capture"

    def session(self, agent: str, native_id: str) -> dict[str, Any]:
        """Return what is known of a session that goes on; empty when nothing is."""
        return _read(self._session_file(agent, native_id)) or {}

    def set_session(self, agent: str, native_id: str, known: dict[str, Any]) -> None:
        """Keep what is known of a session.

        Raises:
            OSError: it cannot be written.
        """
        _write(self._session_file(agent, native_id), known)

    @contextmanager
    def holding(self, agent: str, native_id: str, limit_s: float) -> Iterator[None]:
        """Let no other hook of the session work meanwhile.

        Raises:
            TimeoutError: another one held it for all that time.
            OSError: it cannot be locked.
        """
        with _locked(self._session_file(agent, native_id).with_suffix(".lock"), limit_s):
            yield

    @contextmanager
    def settling(self) -> Iterator[bool]:
        """Yield whether this process is the only one that brings things into the store.

        Raises:
            OSError: it cannot be locked.
        """
        try:
            with _locked(self.path / "settling.lock", 0.0):
                yield True
        except TimeoutError:
            yield False

    def add_snapshot(self, snapshot_id: str, facts: dict[str, Any]) -> None:
        """Leave a snapshot that was taken.

        Raises:
            OSError: it cannot be written.
        """
        _write(self.path / "snapshots" / f"{snapshot_id}.json", facts)

    def snapshots(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Yield the files of snapshots that are not in the store yet, and what is in them."""
        yield from _all(self.path / "snapshots")

    def finish(self, agent: str, native_id: str, transcript: str | None) -> None:
        """Ask for a session's transcript to be read.

        Raises:
            OSError: it cannot be written.
        """
        name = self._session_file(agent, native_id).name
        facts = {"agent": agent, "native_id": native_id, "transcript": transcript}
        _write(self.path / "finished" / name, facts)

    def finished(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Yield files that ask for a session's transcript to be read, and what is in them."""
        yield from _all(self.path / "finished")
        yield from _all(self.path / "finished", "*.taken")

    def take(self, file: Path) -> Path:
        """Take such a file, to be removed when all is read; a hook may ask anew meanwhile.

        Raises:
            OSError: it is gone.
        """
        return file.replace(file.with_suffix(".taken"))

    def saw(self, agent: str, event: str, now: datetime) -> None:
        """Keep when an agent last told of an event.

        Raises:
            OSError: it cannot be written.
        """
        _write(self.path / "events" / f"{agent}.json", {"event": event, "at": now.isoformat()})

    def last_event(self, agent: str) -> tuple[str, datetime] | None:
        """Return the last event of an agent and its time; None when there was none."""
        known = _read(self.path / "events" / f"{agent}.json") or {}
        try:
            return str(known["event"]), datetime.fromisoformat(known["at"])
        except (KeyError, TypeError, ValueError):
            return None

    def tell_error(self, agent: str, event: str, what: str, now: datetime) -> None:
        """Keep what went wrong; a long list begins anew, with the one before beside it.

        Raises:
            OSError: it cannot be written.
        """
        log = self.path / "errors.jsonl"
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            if log.stat().st_size > _MOST_ERRORS:
                log.replace(log.with_suffix(".1.jsonl"))
        facts = {"at": now.isoformat(), "agent": agent, "event": event, "what": what[:2_000]}
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")

    def errors(self) -> list[dict[str, str]]:
        """Return what went wrong, the oldest first."""
        found = []
        with suppress(OSError):
            for line in (self.path / "errors.jsonl").read_bytes().split(b"\n"):
                with suppress(ValueError):
                    entry = json.loads(line)
                    if isinstance(entry, dict):
                        found.append({str(key): str(value) for key, value in entry.items()})
        return found

    def forget_old(self, now: float) -> None:
        """Remove what is known of sessions that nothing was heard of for a month.

        Args:
            now: Seconds since 1970.
        """
        with suppress(OSError):
            for file in (self.path / "sessions").iterdir():
                with suppress(OSError):
                    if file.stat().st_mtime < now - _LONG_AGO_S:
                        file.unlink()

    def _session_file(self, agent: str, native_id: str) -> Path:
        plain = _PLAIN.fullmatch(native_id) is not None
        name = native_id if plain else sha256(os.fsencode(native_id)).hexdigest()
        return self.path / "sessions" / f"{agent}.{name}.json"


@contextmanager
def _locked(path: Path, limit_s: float) -> Iterator[None]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    end = monotonic() + limit_s
    with path.open("ab") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if monotonic() >= end:
                    raise TimeoutError(f"another process holds {path}") from None
                sleep(_POLL_S)
        yield


def _all(folder: Path, pattern: str = "*.json") -> Iterator[tuple[Path, dict[str, Any]]]:
    try:
        files = sorted(folder.glob(pattern))
    except OSError:
        return
    for file in files:
        yield file, _read(file) or {}


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _write(path: Path, facts: dict[str, Any]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_text(json.dumps(facts))
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise

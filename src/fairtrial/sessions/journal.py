"""Writing a journal: each line is with the system before the program goes on."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from fairtrial.sessions.readers.recorded.records import Line

_ENCODER = msgspec.json.Encoder(enc_hook=str)


class Journal:
    """A file of lines that only grows. Threads may share it.

    The file is locked while its program lives, so that others see when nothing more will come.
    """

    def __init__(
        self, path: Path, clean: Callable[[bytes], bytes], now: Callable[[], datetime]
    ) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self.path = path
        self._file = os.open(path, flags, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._clean = clean
        self._now = now
        self._lock = threading.Lock()
        self._open = True

    def write(self, line: Line) -> None:
        """Write a line; what JSON cannot hold in it is written as text.

        After `close` nothing is written: what a thread still tells then is of no session.

        Raises:
            OSError: it cannot be written.
        """
        line.at = line.at or self._now()
        data = self._clean(_encoded(line)) + b"\n"
        with self._lock:
            while data and self._open:
                data = data[os.write(self._file, data) :]

    def close(self) -> None:
        """Write nothing more."""
        with self._lock:
            if self._open:
                self._open = False
                os.close(self._file)


def _encoded(line: Line) -> bytes:
    try:
        return _ENCODER.encode(line)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        plain = {
            name: value if isinstance(value, int | float | datetime | None) else _text(value)
            for name in line.__struct_fields__
            if (value := getattr(line, name)) is not None
        }
        return _ENCODER.encode(plain)


def _text(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text.encode("utf-8", "replace").decode()


def is_over(path: Path) -> bool:
    """Return whether the program that wrote a journal has ended."""
    with suppress(OSError), path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False

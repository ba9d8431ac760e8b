"""Standard streams that take whatever is written, or say why they do not."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Literal, TextIO

from fairtrial.model.errors import FairtrialError


class OutputError(FairtrialError):
    """Standard output does not take what is written."""


def prepare() -> None:
    """Put the null device in the place of standard streams that are closed.

    Else the first files that are opened would get their numbers, and what a library or a child
    process prints would go into the database.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003  # positional only
    sys.stdin = sys.stdin or _stream(0, "r")
    sys.stdout = sys.stdout or _stream(1, "w")
    sys.stderr = sys.stderr or _stream(2, "w")


def write_text(text: str) -> None:
    """Print text for a person; what the terminal has no character for becomes a question mark.

    Raises:
        OutputError: it cannot be written.
    """
    _write(lambda out: out.write(text), errors="replace")


def write_document(write: Callable[[TextIO], object]) -> None:
    """Print a document for a program: always UTF-8.

    Half a surrogate pair, which UTF-8 cannot hold, is escaped, in JSON as JSON does.

    Raises:
        OutputError: it cannot be written.
    """
    _write(write, encoding="utf-8", errors="backslashreplace")


def tell(text: str) -> None:
    """Print text on standard error, if there is a way."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except RuntimeError:
        pass  # a signal came within another write
    except OSError:
        _silence(sys.stderr)


@contextmanager
def kept_for_the_report() -> Iterator[None]:
    """Send to standard error what anything else in this process, or a child of it, prints."""
    sys.stdout.flush()
    report = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(report, 1)
        os.close(report)


def _write(write: Callable[[TextIO], object], *, errors: str, encoding: str | None = None) -> None:
    out = sys.stdout
    try:
        if isinstance(out, io.TextIOWrapper):
            out.reconfigure(encoding=encoding, errors=errors)
        write(out)
        out.flush()
    except BrokenPipeError:
        _silence(out)
        raise
    except OSError as error:
        _silence(out)
        raise OutputError(
            "cannot be written",
            where="standard output",
            why=error.strerror,
            fix="send it elsewhere; what a run recorded is kept",
        ) from error


def _silence(stream: TextIO) -> None:
    """Let what a stream still holds vanish: the interpreter would fail on it as it ends."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def _stream(descriptor: int, mode: Literal["r", "w"]) -> TextIO:
    return open(descriptor, mode, encoding="utf-8", errors="backslashreplace", closefd=False)

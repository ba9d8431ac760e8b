"""Opening what may be large, endless, compressed or in another encoding."""

from __future__ import annotations

import codecs
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from fairtrial.interchange.results.contract import Notes
from fairtrial.interchange.results.json_values import Unreadable, parts_of
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.schema.text_files import refuse_endless

T = TypeVar("T")

LONGEST_LINE: Final = 64 * 1024 * 1024
"""Bytes of a line; of a longer one nothing is taken."""
LARGEST_WHOLE: Final = 2 * 1024**3
"""Bytes of a document that is looked at as a whole."""
_BLOCK: Final = 1024 * 1024
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def checked(path: Path) -> None:
    """Refuse what is no file that ends.

    Raises:
        NotFoundError: there is nothing.
        UsageError: it is a pipe, a device, or cannot be read.
    """
    try:
        refuse_endless(path)
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise NotFoundError("there is no such file", where=str(path)) from None
    except OSError as error:
        raise UsageError(
            "the file cannot be read", where=str(path), why=error.strerror or str(error)
        ) from None


def head_of(path: Path, size: int) -> bytes:
    """Return the first bytes of a file as UTF-8.

    Raises:
        NotFoundError: there is nothing.
        UsageError: it cannot be read.
    """
    checked(path)
    with path.open("rb") as file:
        data = file.read(size)
    return _as_utf8(data) or data


def content(path: Path) -> Any:
    """Return the bytes of a document as UTF-8 without a mark of that, read only where looked at.

    Raises:
        NotFoundError: there is nothing.
        UsageError: it cannot be read, is empty or too large.
    """
    checked(path)
    with path.open("rb") as file:
        size = path.stat().st_size
        if not size:
            raise UsageError("the file is empty", where=str(path))
        if size > LARGEST_WHOLE:
            raise UsageError(
                f"the file has {size:,} bytes; {LARGEST_WHOLE:,} can be read as a whole",
                where=str(path),
                fix="write one result a line (.jsonl), which is read line by line",
            )
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if mapped[:2] in _UTF16:
        return _as_utf8(mapped[:]) or b""
    if mapped[:3] == codecs.BOM_UTF8:
        return memoryview(mapped)[3:]
    return mapped


def document(path: Path, kind: type[T], notes: Notes) -> T:
    """Return a JSON document in parts; see `parts_of`.

    Raises:
        NotFoundError: there is nothing.
        UsageError: it cannot be read, or is another thing.
    """
    try:
        return parts_of(content(path), kind, notes)
    except Unreadable as problem:
        raise UsageError("the file cannot be read", where=str(path), why=str(problem)) from None


def lines(path: Path, notes: Notes) -> Iterator[tuple[int, bytes]]:
    """Yield each line that is not blank with its number, as UTF-8.

    Raises:
        NotFoundError: there is nothing.
        UsageError: it cannot be read.
    """
    checked(path)
    with path.open("rb") as file:
        wide = file.read(2) in _UTF16
        file.seek(0)
        if wide:
            yield from _wide_lines(path)
            return
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                notes.add("lines that are too long to be read", f"line {number}", lost=True)
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST_LINE)
                continue
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            if line.strip():
                yield number, line


def _wide_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open(encoding="utf-16", errors="replace", newline="\n") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line.encode()


def text_lines(path: Path, notes: Notes) -> Iterator[str]:
    """Yield the lines of a table with their ends: UTF-8, UTF-16 with its mark, or else Windows'.

    Raises:
        NotFoundError: there is nothing.
        UsageError: it cannot be read.
    """
    checked(path)
    encoding = _encoding(path)
    if encoding == "cp1252":
        notes.add("the file is not UTF-8: read as Windows-1252")
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        while line := file.readline(LONGEST_LINE):
            # A NUL is in no table; the csv module stops at one.
            yield line.replace("\0", "")


def _encoding(path: Path) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        block = file.read(_BLOCK)
        if block[:2] in _UTF16:
            return "utf-16"
        try:
            while block:
                decoder.decode(block)
                block = file.read(_BLOCK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8-sig"


def _as_utf8(data: bytes) -> bytes | None:
    """Return UTF-16 as UTF-8, or UTF-8 without its mark; None when it needs no change."""
    if data[:2] in _UTF16:
        return data.decode("utf-16", "replace").encode()
    return data[3:] if data.startswith(codecs.BOM_UTF8) else None

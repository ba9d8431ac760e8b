"""Comparing what a transcript tells of a file with the bytes of a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_REDACTED: Final = "[redacted"
_LFS: Final = b"version https://git-lfs.github.com/spec/"
_BOM: Final = b"\xef\xbb\xbf"
_UTF16: Final = b"\xff\xfe"
_CUT: Final = " characters left out …]"
_BROKEN: Final = "\ufffd"


class Texts:
    """Compares texts, knowing what was taken out of those that a store keeps.

    Args:
        clean: Takes secrets out of bytes, as it was done when the transcript was read.
    """

    def __init__(self, clean: Callable[[bytes], bytes]) -> None:
        self._clean = clean

    def same(self, data: bytes, text: str) -> bool:
        """Return whether a text is that of a file; line ends and a byte order mark aside."""
        try:
            told = text.encode()
        except UnicodeEncodeError:
            return False
        plain = _plain(data)
        if plain == _plain(told):
            return True
        if _BROKEN in text and _plain(data.decode(errors="replace").encode()) == _plain(told):
            return True
        return _REDACTED in text and _plain(self._clean(data)) == _plain(told)


def is_pointer(data: bytes) -> bool:
    """Return whether a file is a pointer to one that git LFS keeps."""
    return data.startswith(_LFS)


def bytes_of(text: str, like: bytes | None, *, raw: bool) -> tuple[bytes | None, str | None]:
    """Return the bytes of a text, and what is not sure of them; None when they are not known.

    Args:
        text: The whole file.
        like: An older or newer content of the file, for its line ends and its encoding; None when
            there is none.
        raw: The text has the line ends of the file; else it has plain ones, whatever the file has.
    """
    if _REDACTED in text:
        return None, "a secret was taken out of what the transcript tells of it"
    if _BROKEN in text:
        return None, "it is no UTF-8 text, and the transcript does not tell its bytes"
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return None, "the transcript does not tell all of its characters"
    if raw:
        return data, None
    if like is None:
        return data, "its line ends are not told: plain ones are written"
    windows, all_ends = like.count(b"\r\n"), like.count(b"\n")
    reason = "it has line ends of two kinds, and which stands where is not told"
    if like.startswith(_UTF16):
        windows, all_ends = like.count(b"\r\0\n\0"), like.count(b"\n\0")
    if windows and b"\r\n" not in data:
        data = data.replace(b"\n", b"\r\n")
    if like.startswith(_UTF16):
        data = _UTF16 + data.removeprefix(_BOM).decode().encode("utf-16-le")
    elif like.startswith(_BOM) and not data.startswith(_BOM):
        data = _BOM + data
    return data, reason if 0 < windows < all_ends else None


def fits(data: bytes, diff: str) -> bool:
    """Return whether a unified diff, or the hunks of a patch without numbers, fits a file.

    Hunks with numbers must fit at their lines; those without, one after the other, blanks at the
    ends of lines aside, as they are applied. Of a diff that was cut nothing can be said: it fits.
    """
    if _CUT in diff:
        return True
    lines = _plain(data).decode(errors="replace").split("\n")
    stripped = [line.strip() for line in lines]
    at = 0
    for start, old in _hunks(diff):
        if start is not None:
            place = start - 1 if old else 0
            if lines[place : place + len(old)] != old:
                return False
            continue
        found = _find(stripped, [line.strip() for line in old], at)
        if found is None:
            return False
        at = found + len(old)
    return True


def _hunks(diff: str) -> list[tuple[int | None, list[str]]]:
    found: list[tuple[int | None, list[str]]] = []
    for line in diff.replace("\r\n", "\n").removesuffix("\n").split("\n"):
        if line.startswith("@@"):
            numbers = _HUNK.match(line)
            found.append((int(numbers[1]) if numbers else None, []))
        elif not line or line.startswith((" ", "-")):
            if not found:
                found.append((None, []))
            found[-1][1].append(line[1:])
    return found


def _find(lines: list[str], wanted: list[str], start: int) -> int | None:
    if not wanted:
        return start
    for place in range(start, len(lines) - len(wanted) + 1):
        if lines[place : place + len(wanted)] == wanted:
            return place
    return None


def _plain(data: bytes) -> bytes:
    if data.startswith(_UTF16):
        data = data[2:].decode("utf-16-le", errors="replace").encode()
    return data.removeprefix(_BOM).replace(b"\r\n", b"\n")

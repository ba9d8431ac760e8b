"""Texts that may stand in a file of their own: `@prompt.md`."""

from __future__ import annotations

import errno
import stat
from pathlib import Path
from typing import Any

from fairtrial.model.errors import UsageError

MARK = "@"
LONGEST = 10_000_000
"""Bytes of a file that is taken for a text."""


def text_given(given: str, folder: Path, where: str) -> str:
    """Return the text that an option gives: itself, or the content of the file it names.

    `@FILE` names a file; `@@…` is the text `@…`.

    Args:
        given: The option's value.
        folder: Where relative paths start.
        where: What gave it, for the error message.

    Raises:
        UsageError: the file is not there, is too large, or holds no text.
    """
    if not given.startswith(MARK):
        return given
    if given.startswith(MARK * 2):
        return given[1:]
    return read_text(given.removeprefix(MARK), folder, where)


def text_kept(text: str) -> str:
    """Return what gives a text whatever it begins with: the way back from `text_given`."""
    return MARK + text if text.startswith(MARK) else text


def json_given(given: Any, folder: Path, where: str) -> Any:
    """Return the JSON value that an option gives: itself, or that of the file that `@FILE` names.

    Raises:
        UsageError: the file is not there or holds no JSON.
    """
    if not isinstance(given, str):
        return given
    import json  # noqa: PLC0415  # only for files

    text = text_given(given, folder, where)
    try:
        return json.loads(text)
    except (RecursionError, ValueError) as error:
        raise UsageError(f"{given} is not JSON: {error}", where=where) from None


def read_text(name: str, folder: Path, where: str) -> str:
    """Return the content of a file of text.

    Raises:
        UsageError: as of `text_given`.
    """
    if not name.strip():
        raise UsageError("'@' names no file", where=where, fix="write @FILE, or @@ for the text @")
    try:
        path = folder / Path(name).expanduser()
        refuse_endless(path)
        with path.open("rb") as file:
            data = file.read(LONGEST + 1)
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"{name} cannot be read: {reason}",
            where=where,
            fix=f"relative paths start at {folder}; for a text that begins with @ write @@",
        ) from None
    if len(data) > LONGEST:
        raise UsageError(f"{name} has more than {LONGEST:,} bytes", where=where)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{name} is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}",
            where=where,
        ) from None


def refuse_endless(path: Path) -> None:
    """Refuse what is no file: opening a pipe that nobody writes to would wait for ever.

    Raises:
        OSError: it is a pipe, a socket or a device, or is not there.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file; write it to a file")

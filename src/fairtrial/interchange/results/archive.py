"""Zip archives whose members may be compressed with Zstandard, read without unpacking them.

Python's `zipfile` learns that method in 3.14 only. Nothing is ever written to a path that an
archive names, and a member ends at a size, whatever it says of itself.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from fairtrial.interchange.results.files import checked
from fairtrial.model.errors import UsageError

LARGEST_MEMBER: Final = 512 * 1024 * 1024
LARGEST_TOTAL: Final = 32 * 1024**3
_ZSTANDARD: Final = 93
_LOCAL: Final = struct.Struct("<4s5H3L2H")
_MARK: Final = b"PK\x03\x04"
_ENCRYPTED: Final = 1
_BROKEN: Final = (
    *(EOFError, NotImplementedError, OSError, OverflowError, ValueError),
    *(struct.error, zipfile.BadZipFile, zlib.error),
)
"""What reading a damaged archive raises."""


class MemberError(Exception):
    """A member cannot be read; `str()` says why."""


class Archive:
    """The members of a zip file."""

    def __init__(self, file: IO[bytes], archive: zipfile.ZipFile) -> None:
        self._file = file
        self._archive = archive
        self._read = 0

    def names(self) -> list[str]:
        """Return the names of all members, each once, in the order they were last written."""
        infos = sorted(self._archive.NameToInfo.values(), key=lambda info: info.header_offset)
        return [info.filename for info in infos]

    def read(self, name: str) -> bytes:
        """Return the content of a member.

        Raises:
            KeyError: there is none.
            MemberError: it is damaged, encrypted, or larger than is read.
        """
        info = self._archive.getinfo(name)
        if info.flag_bits & _ENCRYPTED:
            raise MemberError("it is encrypted")
        most = min(LARGEST_MEMBER, LARGEST_TOTAL - self._read)
        try:
            with self._opened(info) as stream:
                data = stream.read(most + 1)
        except _BROKEN as error:
            raise MemberError(f"it is damaged: {error}") from None
        if len(data) > most:
            raise MemberError(f"it has more than {most:,} bytes")
        self._read += len(data)
        return data

    @contextmanager
    def _opened(self, info: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
        if info.compress_type != _ZSTANDARD:
            with self._archive.open(info) as stream:
                yield stream
            return

        import zstandard  # noqa: PLC0415  # only for such archives

        self._file.seek(info.header_offset)
        fields = _LOCAL.unpack(self._file.read(_LOCAL.size))
        if fields[0] != _MARK:
            raise zipfile.BadZipFile("a member is not where the directory says")
        self._file.seek(info.header_offset + _LOCAL.size + fields[9] + fields[10])
        packed = self._file.read(min(info.compress_size, LARGEST_MEMBER))
        try:
            with zstandard.ZstdDecompressor().stream_reader(packed) as stream:
                yield stream
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from None


@contextmanager
def archive_at(path: Path) -> Iterator[Archive]:
    """Open a zip file.

    Raises:
        NotFoundError: there is nothing.
        UsageError: it is none, or is torn.
    """
    checked(path)
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except _BROKEN as error:
            raise UsageError(
                "the archive cannot be read",
                where=str(path),
                why=f"{error}; it may have been cut off while it was written",
            ) from None
        with archive:
            yield Archive(file, archive)

"""From the bytes of a transcript to its lines, while it may still be written.

A line ends at a line feed only: transcripts hold other separators of lines as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from fairtrial.ports.transcript_files import FoundFile, Line

LONGEST_LINE: Final = 16 * 1024 * 1024
"""Bytes of a line that is read; of a longer one nothing is."""
TAIL: Final = 256
"""Bytes before the offset whose hash tells whether a file only grew."""

_BLOCK: Final = 1024 * 1024
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_BOM: Final = b"\xef\xbb\xbf"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


class LineFile:
    """A file of lines, which only grows. See `TranscriptSource`."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def inside(self) -> tuple[FoundFile, ...]:
        """See `TranscriptSource.inside`."""
        return ()

    def lines(self, offset: int) -> Iterator[Line]:
        """See `TranscriptSource.lines`."""
        return lines(self._path, offset)

    def tail(self, offset: int) -> bytes:
        """See `TranscriptSource.tail`: a compressed file is written whole."""
        return b"" if self._path.suffix == ".zst" else tail_hash(self._path, offset)


def lines(path: Path, offset: int = 0) -> Iterator[Line]:
    """Yield the whole lines of a file from an offset on.

    What stands after the last line end may still be in the writing, so it waits, unless it is a
    whole JSON object already: agents do not always end their last line.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        packed = offset == 0 and file.read(4) == _ZSTD
        file.seek(offset)
        if packed:
            yield from _unpacked(file)
            return
        yield from _split(file, offset)


def _unpacked(file: BinaryIO) -> Iterator[Line]:
    """Yield the lines of a compressed file; it is whole, so all of them end where it ends."""
    import zstandard  # noqa: PLC0415  # few transcripts are compressed

    end = file.seek(0, 2)
    file.seek(0)
    with zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as stream:
        try:
            for line in _split(stream, 0):
                yield Line(line.data, end)
        except zstandard.ZstdError:
            yield Line(b"\0", end)  # the rest is lost: one bad line


def _split(file: BinaryIO, offset: int) -> Iterator[Line]:
    rest, end, skipping = b"", offset, False
    wide: str | None = None
    while block := file.read(_BLOCK):
        if offset == 0 and end == 0 and not rest and block[:2] in _UTF_16:
            wide = "utf-16-le" if block[:1] == b"\xff" else "utf-16-be"
        if wide is not None:
            yield from _wide(file, block, wide)
            return
        parts = block.split(b"\n")
        if len(parts) == 1:
            rest = b"" if skipping else rest + block
            end += len(block) if skipping else 0
            if len(rest) > LONGEST_LINE:
                end, rest, skipping = end + len(rest), b"", True
            continue
        parts[0] = rest + parts[0]
        rest = parts.pop()
        for part in parts:
            end += len(part) + 1
            if skipping or len(part) > LONGEST_LINE:
                skipping = False
                yield Line(None, end)
            else:
                yield Line(part, end)
    if rest.strip().endswith(b"}") and _is_whole(rest):
        yield Line(rest, end + len(rest))


def _wide(file: BinaryIO, block: bytes, encoding: str) -> Iterator[Line]:
    """Yield the lines of a file in UTF-16, which some editors and shells make of a transcript."""
    data = block + file.read(LONGEST_LINE)
    text = data[2:].decode(encoding, "replace")
    *whole, _ = text.encode("utf-8", "replace").split(b"\n")
    for line in whole:
        yield Line(line, len(data))


def _is_whole(data: bytes) -> bool:
    import msgspec  # noqa: PLC0415  # only for the last line of a file without an end

    try:
        msgspec.json.decode(cleaned(data), type=dict)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def cleaned(line: bytes) -> bytes:
    """Return a line without what some writers leave around a record: NUL, CR, a mark of UTF-8."""
    return line.strip(b"\0\r\t ").removeprefix(_BOM)


def tail_hash(path: Path, offset: int) -> bytes:
    """Return a hash of the bytes before an offset.

    Raises:
        OSError: the file cannot be read.
    """
    start = max(0, offset - TAIL)
    with path.open("rb") as file:
        file.seek(start)
        return hashlib.sha256(file.read(offset - start)).digest()[:16]

"""What is packed in a file, as far as an agent would unpack it, too."""

from __future__ import annotations

import bz2
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one file, or of what is packed in it, that are read."""
_DEEPEST: Final = 3
_MEMBERS: Final = 10_000


def unpacked(data: bytes, depth: int = 0) -> Iterator[tuple[str, bytes]]:
    """Yield some bytes, and all that is packed in them with gzip, bzip2, xz, Zstandard or zip.

    A tar archive needs no unpacking: its files lie in it as they are.

    Args:
        data: The bytes.
        depth: How often they were unpacked before.

    Yields:
        A suffix that says where in the file it is, and the content.
    """
    yield "", data
    if depth >= _DEEPEST:
        return
    for name, inner in _members(data):
        if not inner:
            continue  # what only begins like an archive
        for deeper, content in unpacked(inner, depth + 1):
            yield f"{name}{deeper}", content


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        if data.startswith(b"\x1f\x8b"):
            yield "", zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, LIMIT)
        elif data.startswith(b"BZh"):
            yield "", bz2.BZ2Decompressor().decompress(data, LIMIT)
        elif data.startswith(b"\xfd7zXZ\0"):
            yield "", lzma.LZMADecompressor().decompress(data, LIMIT)
        elif data.startswith(b"\x28\xb5\x2f\xfd"):
            yield "", _zstandard(data)
        elif data.startswith(b"PK\x03\x04"):
            yield from _zipped(data)
    except (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError, zipfile.BadZipFile):
        return


def _zstandard(data: bytes) -> bytes:
    import zstandard  # noqa: PLC0415  # few files are packed so

    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)) as reader:
            return reader.read(LIMIT)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None


def _zipped(data: bytes) -> Iterator[tuple[str, bytes]]:
    left = LIMIT
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist()[:_MEMBERS]:
            if member.is_dir() or member.flag_bits & 1 or left <= 0:
                continue  # encrypted, or more than is read
            try:
                with archive.open(member) as file:
                    content = file.read(left)
            except (NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error):
                continue
            left -= len(content)
            yield f"!{member.filename}", content

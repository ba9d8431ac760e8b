"""Bodies decoded from their content coding, for the record only."""

from __future__ import annotations

import zlib

LARGEST_DECODED = 256 * 1024 * 1024
"""Bytes that a coded body may grow to; a small body can be made to hold much more."""


def decoded(data: bytes, coding: str | None) -> tuple[bytes, str | None]:
    """Return a body without its content coding, as far as it can be read.

    Args:
        data: The body; of a stream that was cut, its beginning.
        coding: The value of its Content-Encoding.

    Returns:
        The body, and the coding that is left on it: None when none is.
    """
    left = [word.strip().lower() for word in (coding or "").split(",")]
    names = [name for name in left if name not in ("", "identity")]
    while names:
        try:
            data = _without(names[-1], data)
        except (ValueError, zlib.error, EOFError):
            return data, ", ".join(names)
        names.pop()
    return data, None


def _without(name: str, data: bytes) -> bytes:
    if not data:
        return data
    if name in ("gzip", "x-gzip"):
        return _inflated(data, 16 + zlib.MAX_WBITS)
    if name == "deflate":
        try:
            return _inflated(data, zlib.MAX_WBITS)
        except zlib.error:  # some send it without the zlib frame
            return _inflated(data, -zlib.MAX_WBITS)
    if name == "br":
        return _of_brotli(data)
    if name == "zstd":
        return _of_zstd(data)
    raise ValueError(f"unknown content coding {name}")


def _inflated(data: bytes, window: int) -> bytes:
    done = b""
    while data and len(done) < LARGEST_DECODED:
        stream = zlib.decompressobj(window)
        done += stream.decompress(data, LARGEST_DECODED - len(done))
        if not stream.eof:
            break
        data = stream.unused_data
    return done


def _of_brotli(data: bytes) -> bytes:
    import brotli  # noqa: PLC0415  # few answers come in it

    stream = brotli.Decompressor()
    try:
        done: bytes = stream.process(data, output_buffer_limit=LARGEST_DECODED)
    except brotli.error as error:
        raise ValueError(str(error)) from None
    return done


def _of_zstd(data: bytes) -> bytes:
    import zstandard  # noqa: PLC0415  # as above

    try:
        stream = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True)
        return stream.read(LARGEST_DECODED)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None

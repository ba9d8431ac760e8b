"""Payloads: small ones in the database, large ones in files named by their content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from pathlib import Path

from fairtrial.store.failures import damaged, translated

INLINE_LIMIT = 8 * 1024
"""A payload of up to this many bytes, compressed if need be, stays in the database."""

# The first bytes of every zstd frame; no JSON text begins with them, and what does is compressed.
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Agent-like JSON shrinks to a third at up to 1 GB/s; higher levels gain little.
_ZSTD_LEVEL = 3


class Blobs:
    """A folder of zstd files, each named by the SHA-256 of what it holds.

    A file appears whole or not at all, and is never changed. Several processes may write one
    folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def pack(
        self, payload: bytes, inline_limit: int = INLINE_LIMIT, plain_limit: int = INLINE_LIMIT
    ) -> tuple[bytes | None, str | None]:
        """Return how to keep a payload: bytes for the database, or the name of its new file.

        Args:
            payload: What to keep.
            inline_limit: It stays in the database when it takes at most so many bytes compressed.
            plain_limit: It is not compressed when it has at most so many bytes.

        Raises:
            StoreError: the file cannot be written.
        """
        if len(payload) <= plain_limit and payload[:4] != _ZSTD_MAGIC:
            return payload, None
        small = _compress(payload)
        if len(small) <= inline_limit:
            return small, None
        name = hashlib.sha256(payload).hexdigest()
        path = self._path(name)
        with translated(path):
            _write(path, small)
        return None, name

    def size_of(self, inline: bytes) -> int:
        """Return how many bytes a payload that stays in the database has."""
        if inline[:4] != _ZSTD_MAGIC:
            return len(inline)
        import zstandard  # noqa: PLC0415  # 30 ms, and many commands read nothing compressed

        size: int = zstandard.frame_content_size(inline)
        return size

    def keep_only(self, names: Collection[str]) -> int:
        """Remove every file that is not named, and return their bytes.

        No payload may be put on record meanwhile: the caller holds the write lock, and whoever
        puts one on record under that lock packs it again if its file is gone.

        Raises:
            StoreError: a file cannot be removed.
        """
        removed = 0
        with translated(self._folder):
            for path in self._folder.glob("??/*.zst"):
                if path.stem not in names:
                    size = path.stat().st_size
                    path.unlink(missing_ok=True)
                    removed += size
        return removed

    def remove(self, names: Collection[str]) -> None:
        """Remove files; the caller holds the write lock, as for `keep_only`.

        Raises:
            StoreError: a file cannot be removed.
        """
        with translated(self._folder):
            for name in names:
                self._path(name).unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        """Whether a payload's file is there."""
        return self._path(name).exists()

    def stored_bytes(self, inline: bytes | None, name: str | None) -> int:
        """Return how many bytes a packed payload takes."""
        return len(inline) if inline is not None else self._path(name or "").stat().st_size

    def unpack(self, inline: bytes | None, name: str | None) -> bytes:
        """Return the payload that `pack` kept.

        Raises:
            StoreError: its file is missing or damaged.
        """
        if inline is not None:
            return _decompress(inline, self._folder) if inline[:4] == _ZSTD_MAGIC else inline
        path = self._path(name or "")
        with translated(path):
            try:
                packed = path.read_bytes()
            except FileNotFoundError as error:
                raise damaged(path, "the file is missing") from error
        return _decompress(packed, path)

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / f"{name}.zst"


def _write(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole, also after a power cut, or not at all."""
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.urandom(8).hex()}.partial")
    try:
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _compress(payload: bytes) -> bytes:
    import zstandard  # noqa: PLC0415  # 30 ms that most commands do not need

    return zstandard.ZstdCompressor(_ZSTD_LEVEL, write_checksum=True).compress(payload)


def _decompress(packed: bytes, path: Path) -> bytes:
    import zstandard  # noqa: PLC0415  # as above

    try:
        return zstandard.ZstdDecompressor().decompress(packed)
    except zstandard.ZstdError as error:
        raise damaged(path, f"its content does not match its checksum: {error}") from error

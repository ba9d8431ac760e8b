"""Bodies of model calls, cut into pieces that calls share."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from sqlalchemy import Connection, delete, select

from fairtrial.store.blobs import Blobs
from fairtrial.store.tables import call_piece, piece

Packed: TypeAlias = tuple[bytes | None, str | None]
"""As `Blobs.pack` returns it."""

SMALLEST_PIECE = 4 * 1024
"""A piece is at least this long, in bytes, unless it is the last."""
_INLINE_LIMIT = 64 * 1024
# Shorter texts hardly shrink.
_PLAIN_LIMIT = 200
# Between two objects of a list: messages, content blocks, tools.
_SEAM = re.compile(rb"\},\s?(?=\{)")
_DIGESTS_AT_ONCE = 500


def cut(body: bytes) -> Iterator[bytes]:
    """Yield a JSON body in pieces that come back in the next request of the same agent.

    An agent's next request is its last one with more at the end, or with a mark moved in it. A
    body is cut between objects, at the first seam after so many bytes, so the pieces before a
    change stay the same. Joined, they are the body, whatever it holds.
    """
    start = 0
    while len(body) - start > SMALLEST_PIECE:
        seam = _SEAM.search(body, start + SMALLEST_PIECE)
        if seam is None:
            break
        yield body[start : seam.end()]
        start = seam.end()
    if start < len(body):
        yield body[start:]


class Pieces:
    """Keeps each piece once, however many calls hold it."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    def prepared(
        self, connection: Connection, pieces: Mapping[bytes, bytes]
    ) -> dict[bytes, Packed]:
        """Return the new ones of some pieces by digest, packed, so that a write can be short."""
        known = _known(connection, pieces)
        return {
            digest: self._pack(content) for digest, content in pieces.items() if digest not in known
        }

    def add(
        self, connection: Connection, pieces: Mapping[bytes, bytes], packed: Mapping[bytes, Packed]
    ) -> dict[bytes, int]:
        """Put pieces on record under the write lock, and return their ids by digest."""
        known = _known(connection, pieces)
        new = [
            {"digest": digest, **self._columns(content, packed.get(digest))}
            for digest, content in pieces.items()
            if digest not in known
        ]
        if new:
            connection.execute(piece.insert(), new)
            known = _known(connection, pieces)
        return known

    def body(self, connection: Connection, call: int, part: int) -> bytes:
        """Return a call's body.

        Raises:
            StoreError: a file of it is missing or damaged.
        """
        statement = (
            select(piece.c.inline, piece.c.blob)
            .join(call_piece, call_piece.c.piece_id == piece.c.id)
            .where(call_piece.c.call_id == call, call_piece.c.part == part)
            .order_by(call_piece.c.position)
        )
        return b"".join(self._blobs.unpack(*found) for found in connection.execute(statement))

    def drop_unused(self, connection: Connection) -> int:
        """Forget the pieces that no call holds, under the write lock; return their bytes.

        Their files stay until `sweep`.
        """
        unused = ~select(call_piece.c.call_id).where(call_piece.c.piece_id == piece.c.id).exists()
        sizes = select(piece.c.inline).where(unused, piece.c.inline.is_not(None))
        size = sum(len(inline) for inline in connection.execute(sizes).scalars())
        connection.execute(delete(piece).where(unused))
        return size

    def sweep(self, connection: Connection) -> int:
        """Remove the files that no piece names, under the write lock; return their bytes."""
        names = connection.execute(select(piece.c.blob).where(piece.c.blob.is_not(None)))
        return self._blobs.keep_only(set(names.scalars()))

    def _pack(self, content: bytes) -> Packed:
        return self._blobs.pack(content, _INLINE_LIMIT, _PLAIN_LIMIT)

    def _columns(self, content: bytes, packed: Packed | None) -> dict[str, Any]:
        # What was known, or written, before the lock was taken may have been pruned since.
        if packed is None or (packed[1] is not None and not self._blobs.has(packed[1])):
            packed = self._pack(content)
        inline, blob = packed
        return {"inline": inline, "blob": blob}


def digests_of(pieces: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    """Return pieces with their digests, in order."""
    return [(hashlib.sha256(content).digest(), content) for content in pieces]


def _known(connection: Connection, pieces: Mapping[bytes, bytes]) -> dict[bytes, int]:
    """Return the ids of those pieces that are on record, by digest."""
    digests: Sequence[bytes] = list(pieces)
    known: dict[bytes, int] = {}
    for at in range(0, len(digests), _DIGESTS_AT_ONCE):
        page = digests[at : at + _DIGESTS_AT_ONCE]
        found = connection.execute(
            select(piece.c.digest, piece.c.id).where(piece.c.digest.in_(page))
        )
        known.update((row.digest, row.id) for row in found)
    return known

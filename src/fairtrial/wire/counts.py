"""Token counts as APIs report them."""

from __future__ import annotations

from collections.abc import Mapping

from fairtrial.model.json import Json
from fairtrial.model.task import Tokens


def count(holder: Json, *path: str) -> int | None:
    """Return a count at a path of keys; None when it is not there or is no count."""
    for key in path:
        holder = holder.get(key) if isinstance(holder, Mapping) else None
    if isinstance(holder, float) and holder.is_integer():
        holder = int(holder)
    return holder if type(holder) is int and holder >= 0 else None


def split_input(read: int | None, cached: int | None, stored: int | None) -> Tokens:
    """Return input tokens by where they came from, for an API that counts all of them as input.

    The parts always add up to what was read; counts that say more are cut.

    Args:
        read: All input tokens.
        cached: Those of them that the cache served.
        stored: Those of them that were put into the cache.
    """
    if read is None:
        return Tokens()
    from_cache = None if cached is None else min(cached, read)
    rest = read - (from_cache or 0)
    to_cache = None if stored is None else min(stored, rest)
    return Tokens(input=rest - (to_cache or 0), cache_read=from_cache, cache_write=to_cache)


def part_of(part: int | None, whole: int | None) -> int | None:
    """Return a part that is no more than its whole; None when one of them is unknown."""
    return None if part is None or whole is None else min(part, whole)

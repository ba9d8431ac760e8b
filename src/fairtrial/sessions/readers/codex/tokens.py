"""How Codex counts tokens: sums of a thread, or what one call took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fairtrial.model.task import Tokens
from fairtrial.sessions.amounts import count

PARTS: Final = (
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "cache_write_input_tokens",
)


def total_of(info: Any) -> list[int] | None:
    """Return the sums of a thread so far, in the order of `PARTS`; None when they are not told."""
    told = info.get("total_token_usage") if isinstance(info, Mapping) else None
    if not isinstance(told, Mapping):
        return None
    return [_number(told.get(part)) or 0 for part in PARTS]


def tokens_of(usage: Mapping[str, Any]) -> Tokens:
    """Return what a call took."""
    read, cached, written, thought, put = (_number(usage.get(part)) for part in PARTS)
    return Tokens(
        # There, input is all that was read.
        input=None if read is None else max(0, read - (cached or 0) - (put or 0)),
        output=written,
        cache_read=cached,
        cache_write=put,
        reasoning=thought,
    )


def _number(value: Any) -> int | None:
    return count(value)

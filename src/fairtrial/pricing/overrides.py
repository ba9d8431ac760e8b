"""Prices of the user's own, from a file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from fairtrial.model.errors import UsageError
from fairtrial.model.task import Tokens

EXAMPLE = '{"my-model*": {"input": 0.5, "output": 1.5}}'
_MILLION = 1e6


class Rates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars for a million tokens; what a cache serves or takes costs like input unless set."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def cost_usd(self, tokens: Tokens) -> float | None:
        """Return what a call costs; None when a count is unknown."""
        if tokens.input is None or tokens.output is None:
            return None
        read = self.input if self.cache_read is None else self.cache_read
        written = self.input if self.cache_write is None else self.cache_write
        return (
            tokens.input * self.input
            + tokens.output * self.output
            + (tokens.cache_read or 0) * read
            + (tokens.cache_write or 0) * written
        ) / _MILLION


Overrides = Mapping[str, Rates]
"""Rates by model name, or by a pattern of names with `*` and `?`, in the order of the file."""


def read_overrides(path: Path) -> Overrides:
    """Return the prices of a file.

    Raises:
        UsageError: it cannot be read, is no JSON, or a price does not fit.
    """
    fix = f"write it like {EXAMPLE}, in US dollars for a million tokens"
    if path.is_fifo() or path.is_char_device():
        raise UsageError(
            "the prices cannot be read: it is a pipe or a device", where=str(path), fix=fix
        )
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the prices cannot be read: {error}", where=str(path)) from None
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}:{error.colno}"
        raise UsageError(f"the prices are no JSON: {error.msg}", where=where, fix=fix) from None
    except RecursionError:
        raise UsageError("the prices are nested too deeply", where=str(path), fix=fix) from None
    try:
        overrides = msgspec.convert(given, dict[str, Rates])
    except msgspec.ValidationError as error:
        raise UsageError(f"the prices do not fit: {error}", where=str(path), fix=fix) from None
    for name, rates in overrides.items():
        for part, rate in msgspec.structs.asdict(rates).items():
            if rate is not None and not (math.isfinite(rate) and rate >= 0):
                raise UsageError(
                    f"a price must be at least 0, got {rate}",
                    where=f'{path}: "{name}" {part}',
                    fix=fix,
                )
    return overrides


def rates_of(overrides: Overrides, names: Sequence[str]) -> Rates | None:
    """Return the rates of a model by any of its names: exact ones first, then patterns."""
    for name in names:
        if name in overrides:
            return overrides[name]
    for pattern, rates in overrides.items():
        if any(fnmatchcase(name, pattern) for name in names):
            return rates
    return None

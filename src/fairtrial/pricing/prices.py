"""The price list: the user's own prices first, then the ones that genai-prices ships."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from fairtrial.model.task import Tokens
from fairtrial.pricing.overrides import Overrides, rates_of, read_overrides

# `us.anthropic.claude-…` of Bedrock; the list knows the part after the maker.
_CLOUD = re.compile(r"^(?:[a-z]{2,6}\.)?[a-z0-9]+\.(?=[a-z])")


class Prices:
    """What models cost, offline. A model is known by its own name, a dated or a prefixed one."""

    def __init__(self, overrides: Path | None = None) -> None:
        """Take a file of the user's prices; it is read on first use.

        Args:
            overrides: The file; None for no prices of the user's own.
        """
        self._path = overrides

    @cached_property
    def _overrides(self) -> Overrides:
        return {} if self._path is None else read_overrides(self._path)

    def check(self) -> None:
        """Read the user's prices now.

        Raises:
            UsageError: the file cannot be read, or a price in it does not fit.
        """
        _ = self._overrides

    def knows(self, model: str) -> bool:
        """Return whether a model has a price.

        Raises:
            UsageError: as `check`.
        """
        return self.cost_usd(model, Tokens(input=1, output=1)) is not None

    def cost_usd(self, model: str, tokens: Tokens) -> float | None:
        """Return what one call costs in US dollars; None when the model or a count is unknown.

        Reasoning is a part of the output. Some models cost more beyond so many tokens a call, so
        the tokens of several calls must not be added up before.

        Raises:
            UsageError: as `check`.
        """
        if tokens.input is None or tokens.output is None:
            return None
        names = tuple(dict.fromkeys(names_of(model)))
        rates = rates_of(self._overrides, names)
        if rates is not None:
            return rates.cost_usd(tokens)
        for name in names:
            cost = _listed(name, tokens)
            if cost is not None:
                return cost
        return None


def names_of(model: str) -> Iterator[str]:
    """Yield the names that a model may be listed under."""
    yield model
    tail = model.rpartition("/")[2]
    yield tail
    yield _CLOUD.sub("", tail)


def _listed(model: str, tokens: Tokens) -> float | None:
    from genai_prices import Usage, calc_price  # noqa: PLC0415  # 0.2 s that most commands spare

    read, written = tokens.cache_read or 0, tokens.cache_write or 0
    usage = Usage(
        # There, input is all that was read.
        input_tokens=(tokens.input or 0) + read + written,
        output_tokens=tokens.output or 0,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )
    try:
        return float(calc_price(usage, model).total_price)
    except (LookupError, ValueError):
        # No such model, or one that is not priced by such tokens.
        return None

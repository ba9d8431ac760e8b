"""What many model calls cost, without asking the price list for each."""

from __future__ import annotations

from fairtrial.model.task import Tokens
from fairtrial.ports import Prices

_UNIT = 100_000
"""Tokens that a price is asked for; beyond so many a call, some models cost more."""


class CallPrices:
    """Prices of calls. Below a size of a call prices are proportional, so few are asked for."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._rates: dict[str, tuple[float, float, float, float] | None] = {}

    def cost_usd(self, model: str | None, tokens: Tokens) -> float | None:
        """Return what a call costs; None when the model or a count is unknown."""
        if model is None or tokens.input is None or tokens.output is None:
            return None
        if model not in self._rates:
            self._rates[model] = self._learned(model)
        rates = self._rates[model]
        if rates is None:
            return self._prices.cost_usd(model, tokens)
        read, written = tokens.cache_read or 0, tokens.cache_write or 0
        if tokens.input + read + written > _UNIT or tokens.output > _UNIT:
            return self._prices.cost_usd(model, tokens)
        counts = (tokens.input, tokens.output, read, written)
        return sum(count * rate for count, rate in zip(counts, rates, strict=True))

    def _learned(self, model: str) -> tuple[float, float, float, float] | None:
        """Return the price of one token of each kind; None when they are not proportional."""
        units = [
            Tokens(input=_UNIT, output=0),
            Tokens(input=0, output=_UNIT),
            Tokens(input=0, output=0, cache_read=_UNIT),
            Tokens(input=0, output=0, cache_write=_UNIT),
        ]
        costs = [self._prices.cost_usd(model, unit) for unit in units]
        known = [cost for cost in costs if cost is not None]
        if len(known) < len(units):
            return None
        quarter = _UNIT // 4
        mixed = self._prices.cost_usd(
            model, Tokens(quarter, quarter, cache_read=quarter, cache_write=quarter)
        )
        if mixed is None or abs(mixed - sum(known) / 4) > 1e-9 + sum(known) * 1e-9:
            return None
        a, b, c, d = (cost / _UNIT for cost in known)
        return a, b, c, d

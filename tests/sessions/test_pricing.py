"""Costs of many calls are those of the price list."""

from __future__ import annotations

import pytest

from fairtrial.model.task import Tokens
from fairtrial.pricing.prices import Prices
from fairtrial.sessions.pricing import CallPrices


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "gpt-5.5", "claude-sonnet-4-5", "gpt-4o"])
@pytest.mark.parametrize(
    "tokens",
    [
        Tokens(100, 50),
        Tokens(0, 0),
        Tokens(3, 7, cache_read=90_000, cache_write=1_000),
        Tokens(150_000, 10, cache_read=120_000),
        Tokens(300_000, 120_000),
        Tokens(None, 5),
    ],
)
def test_a_call_costs_what_the_list_says(model: str, tokens: Tokens) -> None:
    listed = Prices().cost_usd(model, tokens)
    assert CallPrices(Prices()).cost_usd(model, tokens) == pytest.approx(listed)


def test_an_unknown_model_has_no_price() -> None:
    prices = CallPrices(Prices())
    assert prices.cost_usd("no-such-model", Tokens(1, 1)) is None
    assert prices.cost_usd(None, Tokens(1, 1)) is None

"""What a call costs: the user's prices, the shipped list, the names of models."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.model.task import Tokens
from fairtrial.pricing.prices import Prices

MILLION = 1_000_000
OWN = {
    "local*": {"input": 1, "output": 2},
    "local-free": {"input": 0, "output": 0},
    "gpt-4o": {"input": 10, "output": 20, "cache_read": 1, "cache_write": 15},
}


@pytest.fixture
def own(tmp_path: Path) -> Prices:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps(OWN))
    return Prices(path)


# Anthropic's and OpenAI's lists: $1 in, $5 out, $0.10 cache read, $1.25 cache write; $2.50 and $10.
@pytest.mark.parametrize(
    ("model", "tokens", "cost"),
    [
        ("claude-haiku-4-5", Tokens(input=MILLION, output=0), 1.0),
        ("claude-haiku-4-5", Tokens(input=0, output=MILLION, reasoning=MILLION), 5.0),
        ("claude-haiku-4-5", Tokens(input=0, output=0, cache_read=10_000), 0.001),
        ("claude-haiku-4-5", Tokens(input=0, output=0, cache_write=8_000), 0.01),
        ("gpt-4o", Tokens(input=MILLION // 10, output=0), 0.25),
        ("gpt-4o", Tokens(input=0, output=MILLION // 10), 1.0),
    ],
)
def test_each_kind_of_token_has_its_price(model: str, tokens: Tokens, cost: float) -> None:
    assert Prices().cost_usd(model, tokens) == pytest.approx(cost)


@pytest.mark.parametrize(
    "model",
    [
        "claude-haiku-4-5-20251001",
        "anthropic/claude-haiku-4-5",
        "openrouter/anthropic/claude-haiku-4-5",
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "claude-haiku-4-5@20251001",
    ],
)
def test_dated_and_prefixed_names_are_the_same_model(model: str) -> None:
    assert Prices().cost_usd(model, Tokens(input=MILLION, output=0)) == pytest.approx(1.0)


@pytest.mark.parametrize("model", ["", "fake-1", "SmolLM2-135M", "no/such/model", "☃"])
def test_an_unknown_model_has_no_price(model: str) -> None:
    assert not Prices().knows(model)
    assert Prices().cost_usd(model, Tokens(input=1, output=1)) is None


@pytest.mark.parametrize("tokens", [Tokens(), Tokens(input=1), Tokens(output=1)])
def test_an_unknown_count_has_no_price(own: Prices, tokens: Tokens) -> None:
    assert Prices().cost_usd("gpt-4o", tokens) is None
    assert own.cost_usd("gpt-4o", tokens) is None


def test_own_prices_come_first_and_exact_names_before_patterns(own: Prices) -> None:
    tokens = Tokens(input=MILLION, output=MILLION)
    assert own.cost_usd("local-7b", tokens) == 3.0
    assert own.cost_usd("ollama/local-7b", tokens) == 3.0
    assert own.cost_usd("local-free", tokens) == 0.0
    assert own.knows("local-free")
    assert own.cost_usd("gpt-4o", Tokens(MILLION, 0, MILLION, MILLION)) == 26.0
    assert own.cost_usd("local-7b", Tokens(0, 0, MILLION, MILLION)) == 2.0
    assert own.cost_usd("claude-haiku-4-5", Tokens(input=MILLION, output=0)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ('{"m": {"input": 1,}}', ":1:", "no JSON"),
        ('{\n"m": nope}', ":2:6", "no JSON"),
        ('{"m": {"input": 1}}', "", "output"),
        ('{"m": {"input": "1", "output": 2}}', "", r"\$\[\.\.\.\]\.input|input"),
        ('{"m": {"input": 1, "output": 2, "cached": 3}}', "", "cached"),
        ('{"m": {"input": -1, "output": 2}}', '"m" input', "at least 0"),
        ('{"m": {"input": NaN, "output": 2}}', '"m" input', "at least 0"),
        ("[]", "", "object"),
        ("[" * 100_000, "", "nested|no JSON"),
    ],
)
def test_a_bad_file_is_told_with_its_place(
    tmp_path: Path, text: str, where: str, what: str
) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=what) as caught:
        Prices(path).check()
    assert str(path) in str(caught.value.where)
    assert where in str(caught.value.where)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        Prices(tmp_path / "none.json").check()


def test_the_list_is_loaded_only_when_it_is_asked() -> None:
    code = (
        "import sys; from fairtrial.pricing.prices import Prices; Prices().check(); "
        "assert 'genai_prices' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

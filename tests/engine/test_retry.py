"""Waiting before the next try."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from fairtrial.engine.retry import CAP_S, LONGEST_RETRY_AFTER_S, wait_before
from fairtrial.model.errors import InfraError

seeds = st.integers(0, 2**32).map(random.Random)


@given(st.integers(1, 2000), seeds)
def test_full_jitter_lies_between_zero_and_the_cap(tries: int, randomness: random.Random) -> None:
    wait = wait_before(InfraError("x", kind="server"), tries, randomness)
    assert wait is not None
    assert 0 <= wait <= min(CAP_S, 2.0 ** min(tries - 1, 10))


@given(st.floats(0, LONGEST_RETRY_AFTER_S), st.integers(1, 20), seeds)
def test_what_the_server_asks_for_is_the_least(
    asked: float, tries: int, randomness: random.Random
) -> None:
    error = InfraError("x", kind="rate_limit", retry_after=asked)
    wait = wait_before(error, tries, randomness)
    assert wait is not None
    assert asked <= wait <= asked + CAP_S


def test_a_server_that_asks_for_too_long_is_given_up() -> None:
    error = InfraError("x", kind="rate_limit", retry_after=LONGEST_RETRY_AFTER_S + 1)
    assert wait_before(error, 1, random.Random(0)) is None  # noqa: S311  # any will do

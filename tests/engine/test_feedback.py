"""Feedback after a failed attempt never holds what was expected."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.engine.feedback import BIT, MOST_REASONS, REASON_LENGTH, Reasons, bit, withheld
from fairtrial.model.case import Case
from fairtrial.model.json import Json
from fairtrial.model.score import Score
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.model.verdict import Verdict


def failed(*scores: Score) -> Trial:
    return Trial(
        key=TrialKey("c1", "default", "main", 1),
        verdict=Verdict.FAILED,
        cause=None,
        reason="failed",
        score=0.0,
        scores=scores,
        output="o",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        duration_s=1.0,
        tries=1,
        seed=1,
    )


def said(trial: Trial, expected: Json = None, comparing: tuple[str, ...] = ()) -> str:
    text, cost = asyncio.run(Reasons(comparing)(Case("c1", "i", expected=expected), trial))
    assert cost == 0.0
    return text


def test_bit_says_only_that_it_failed() -> None:
    assert asyncio.run(bit(Case("c1", "i"), failed())) == (BIT, 0.0)


def test_the_reasons_of_failed_graders_are_told_and_no_others() -> None:
    trial = failed(
        Score("style", 0.0, passed=False, reason="too long"),
        Score("tone", 1.0, passed=True, reason="friendly"),
        Score("judge", None, passed=None, reason="it did not answer"),
    )
    assert said(trial) == f"{BIT}\n- style: too long"


def test_at_most_three_reasons_of_three_hundred_characters() -> None:
    trial = failed(*(Score(f"g{n}", 0.0, passed=False, reason="x" * 1000) for n in range(5)))
    lines = said(trial).splitlines()[1:]
    assert len(lines) == MOST_REASONS
    assert all(len(line.partition(": ")[2]) == REASON_LENGTH for line in lines)


def test_a_grader_that_compares_with_the_expected_answer_is_only_named() -> None:
    trial = failed(Score("exact", 0.0, passed=False, reason="expected 'kiwi', got 'plum'"))
    assert said(trial, "kiwi", ("exact",)) == f"{BIT}\n- exact: not what is expected"


def test_a_judge_that_was_shown_the_answer_is_only_named_where_there_is_one() -> None:
    trial = failed(Score("judge", 0.0, passed=False, reason="think of a green fruit"))
    told = Reasons((), ("judge",))
    for expected, line in (("kiwi", "not what is expected"), (None, "think of a green fruit")):
        text, _ = asyncio.run(told(Case("c1", "i", expected=expected), trial))
        assert text == f"{BIT}\n- judge: {line}"


def test_a_reason_that_holds_the_expected_answer_is_kept_back() -> None:
    trial = failed(Score("judge", 0.0, passed=False, reason="It should be Kiwi, not plum"))
    assert said(trial, "kiwi") == f"{BIT}\n- judge: failed; its reason is kept back"


def test_a_crash_is_told_unless_it_quotes_the_answer() -> None:
    assert said(failed(), "x42") == f"{BIT}\n- failed"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("the total is 1,234.50", 1234.5),
        ("the total is 1234.5", "1234.5"),
        ("should be TRUE", True),
        ("wants {'name': 'Ada'}", {"name": "Ada"}),
        ("a field `vendor` is missing", {"vendor": 1}),
        ("not  new\nyork", "New York"),
        ("it is 7", 7),
        ("the colour should be crimson", "crimson red"),
        ("it must say that the quick brown fox jumps", "I saw the quick brown fox jump there"),
    ],
)
def test_answers_are_found_however_they_are_written(reason: str, expected: Json) -> None:
    assert withheld(reason, expected, "-") == "-"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("17 tests failed", 7), ("too long", "a"), ("too long", None), ("too long", ""), ("x", [])],
)
def test_other_reasons_pass(reason: str, expected: Json) -> None:
    assert withheld(reason, expected, "-") == reason


ANSWERS: Any = st.recursive(
    st.text(min_size=3, max_size=12) | st.integers(100, 10**9) | st.floats(100, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc"), inner, max_size=3),
    max_leaves=4,
)


def leaves(value: Json) -> list[str]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [value] if isinstance(value, str) else [json.dumps(value)]


@given(expected=ANSWERS, before=st.text("xyz ", max_size=9), after=st.text("xyz ", max_size=9))
def test_no_part_of_the_expected_answer_reaches_the_task(
    expected: Json, before: str, after: str
) -> None:
    for leaf in leaves(expected):
        shown = " ".join(leaf.split())
        if not shown:
            continue
        trial = failed(Score("g", 0.0, passed=False, reason=f"{before} {leaf.upper()} {after}"))
        fixed = f"{BIT}\n- g: failed; its reason is kept back"
        told = said(trial, expected)
        assert told == fixed or shown.casefold() not in told.casefold()

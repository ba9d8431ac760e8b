"""Numbers and texts as the pages write them."""

from __future__ import annotations

import pytest

from fairtrial.http.web.words import brief, percent, points
from fairtrial.model.json import Json


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (None, "–"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.76, "76.0 %"),
        (2 / 3, "66.7 %"),
        (0.0001, "<0.1 %"),
        (0.99999, ">99.9 %"),
        (0.0005, "0.1 %"),
    ],
)
def test_shares_have_one_decimal_and_never_round_to_all_or_nothing(
    share: float | None, said: str
) -> None:
    assert percent(share) == said


def test_points_have_one_decimal() -> None:
    told = [points(value) for value in (None, 0.2083, -0.004, 0.00001, 0.2)]
    assert told == ["–", "+20.8", "−0.4", "±0", "+20.0"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("plain\ntext", "plain text"),
        ({"question": "why?"}, "why?"),
        ({"question": "why?", "n": 3}, "question: why? · n: 3"),
        ({"answer": "so", "messages": [1, 2, 3]}, "answer: so · messages: 3 items"),
        ({"a": {"b": 1}, "c": None, "d": True}, "a: {…} · c: null · d: true"),
        ([1, "two"], '[1, "two"]'),
        (
            {"text": "Now.", "tool_uses": [{"name": "Bash", "input": {"c": 1}}], "stop": "end"},
            'Now. [Bash {"c": 1}]',
        ),
        ({"text": None, "tool_uses": 7, "stop": "end"}, ""),
        ({}, "{}"),
        (4.5, "4.5"),
        (None, "null"),
        ({"x": []}, "[]"),
        ({"one": [1], "two": {}}, "one: 1 item · two: {}"),
    ],
)
def test_objects_are_told_by_their_keys(value: Json, said: str) -> None:
    assert brief(value) == said


def test_brief_texts_are_brief_and_on_one_line() -> None:
    told = brief({"a": "x" * 10_000, "b\n\u202e": "y"}, 50)
    assert len(told) == 50
    assert told.startswith("a: xxx")
    assert "\u202e" not in brief({"b\u202e": "y\u202e", "c": 1})

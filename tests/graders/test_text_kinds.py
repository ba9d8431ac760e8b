"""exact, contains, regex and similarity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.model.score import Score

Ask = Callable[..., Score]


@pytest.mark.parametrize(
    ("options", "output", "expected", "value"),
    [
        ({}, "refund\n", "refund", 1.0),
        ({"strip": False}, "refund\n", "refund", 0.0),
        ({}, "Refund", "refund", 0.0),
        ({"ignore_case": True}, "STRASSE", "straße", 1.0),
        ({"value": "no"}, "no", "yes", 1.0),
        ({}, 4, 4.0, 1.0),
        ({}, True, 1, 0.0),
        ({}, [1, {"a": "x"}], [1, {"a": "x"}], 1.0),
        ({}, [1, {"a": "x "}], [1, {"a": "x"}], 0.0),
        ({}, {"b": 1, "a": 2}, {"a": 2, "b": 1}, 1.0),
    ],
)
def test_exact(ask: Ask, options: dict[str, Any], output: Any, expected: Any, value: float) -> None:
    assert ask({"kind": "exact", **options}, output, expected).value == value


@pytest.mark.parametrize(
    ("output", "expected", "reason"),
    [
        (41, 42, "expected 42, got 41"),
        ("4", 4, "expected 4, got the text '4'"),
        (4, "4", "expected the text '4', got 4"),
        (None, "yes", "expected the text 'yes', got null"),
        ("no", "yes", "expected 'yes', got 'no'"),
        ({"a": [1, 2]}, {"a": [1, 3]}, "at /a/1: expected 3, got 2"),
        ({"a/b": 1}, {"a/b": 1, "c": 2}, "nothing at /c"),
        ({"a/b": 1, "c": 2}, {"c": 2}, "unexpected /a~1b"),
        ([1, 2], [1], "expected 1 elements, got 2"),
        ([1], "x", "expected 'x', got [1]"),
        ("\x1b[31mred", "red", "expected 'red', got '\\x1b[31mred'"),
        (
            "word " * 40 + "end",
            "word " * 40 + "END",
            "differs at character 201: expected …'d word word END', got …'d word word end'",
        ),
    ],
)
def test_a_difference_is_told_so_that_a_stranger_sees_it(
    ask: Ask, output: Any, expected: Any, reason: str
) -> None:
    assert ask("exact", output, expected).reason == reason


def test_nothing_to_compare_with_is_no_wrong_answer(ask: Ask) -> None:
    for kind in ("exact", "contains", "regex", "number", "json", "json_schema", "similarity"):
        score = ask(kind, "text")
        assert (score.value, score.passed) == (None, None)
        assert score.reason is not None
        assert score.reason.startswith("the case expects nothing, and the grader has no '")


@pytest.mark.parametrize(
    ("options", "expected", "value", "reason"),
    [
        ({}, ["refund", "14 days"], 1.0, "contains 'refund', '14 days' (2 of 2)"),
        ({}, ["refund", "sorry", "x", "14"], 0.0, "missing 'sorry', 'x' (2 of 4)"),
        ({"mode": "any"}, ["sorry", "refund"], 1.0, "contains 'refund' (1 of 2)"),
        ({"mode": "any"}, ["sorry", "no"], 0.0, "contains none of 'sorry', 'no' (2 of 2)"),
        ({}, "REFUND", 0.0, "missing 'REFUND' (1 of 1)"),
        ({"ignore_case": True}, "REFUND", 1.0, "contains 'REFUND' (1 of 1)"),
        ({"values": "14"}, "unused", 1.0, "contains '14' (1 of 1)"),
        ({}, 14, 1.0, "contains '14' (1 of 1)"),
        ({}, [True], None, "the case's 'expected' is no text and no list of texts"),
        ({}, [], None, "the case's 'expected' is no text and no list of texts"),
        ({}, "", None, "the case's 'expected' is no text and no list of texts"),
    ],
)
def test_contains(
    ask: Ask, options: dict[str, Any], expected: Any, value: float | None, reason: str
) -> None:
    score = ask({"kind": "contains", **options}, "a refund in 14 days", expected)
    assert (score.value, score.reason) == (value, reason)


def test_an_output_that_is_no_text_is_searched_as_json(ask: Ask) -> None:
    assert ask("contains", {"name": "Zoë"}, '"name": "Zoë"').passed
    assert ask("contains", None, "null").passed is False


def test_not_forbids(ask: Ask) -> None:
    score = ask({"kind": "contains", "values": "sorry", "not": True}, "so sorry")
    assert (score.value, score.passed) == (0.0, False)
    assert score.reason == "not wanted: contains 'sorry' (1 of 1)"
    assert ask({"kind": "contains", "values": "sorry", "not": True}, "fine").passed


@pytest.mark.parametrize(
    ("options", "expected", "output", "value"),
    [
        ({"pattern": r"\d+"}, None, "is 42", 1.0),
        ({"pattern": r"\d+", "match": "full"}, None, "is 42", 0.0),
        ({"pattern": r"^is$", "flags": ["multiline", "ignore_case"]}, None, "a\nIS\nb", 1.0),
        ({}, "^4", "42", 1.0),
        ({}, "(", "42", None),
        ({}, 42, "42", None),
        ({"pattern": ""}, None, "", 1.0),
    ],
)
def test_regex(
    ask: Ask, options: dict[str, Any], expected: Any, output: str, value: float | None
) -> None:
    assert ask({"kind": "regex", **options}, output, expected).value == value


def test_a_bad_pattern_is_told_before_the_run(ask: Ask) -> None:
    with pytest.raises(UsageError, match=r"'\(a' is no regular expression: missing \)"):
        ask({"kind": "regex", "pattern": "(a"}, "x")


@pytest.mark.parametrize(
    ("options", "output", "expected", "value"),
    [
        ({}, "kitten", "kitten ", 1.0),
        ({"strip": False}, "kitten", "kitten ", 12 / 13),
        ({}, "KITTEN", "kitten", 0.0),
        ({"ignore_case": True}, "KITTEN", "kitten", 1.0),
        ({"measure": "levenshtein"}, "sitting", "kitten", 1 - 3 / 7),
        ({"measure": "partial_ratio"}, "a kitten sat", "kitten", 1.0),
        ({"measure": "token_sort_ratio"}, "b a", "a b", 1.0),
        ({"measure": "token_set_ratio"}, "b a b", "a b", 1.0),
        ({"measure": "jaro_winkler"}, "kitten", "kitten", 1.0),
        ({"value": ["dog", "kitten"]}, "kitten", None, 1.0),
        ({}, "", "", 1.0),
        ({}, "x", 42, None),
    ],
)
def test_similarity(
    ask: Ask, options: dict[str, Any], output: str, expected: Any, value: float | None
) -> None:
    score = ask({"kind": "similarity", **options}, output, expected)
    assert score.value == (value if value is None else pytest.approx(value))
    assert score.passed == (None if value is None else value >= 0.8)


@pytest.mark.parametrize("measure", ["ratio", "partial_ratio"])
def test_texts_that_would_hold_up_the_run_are_not_compared(ask: Ask, measure: str) -> None:
    score = ask({"kind": "similarity", "measure": measure}, "ab" * 100_000, "ba" * 100_000)
    assert score.value is None
    assert score.reason == (f"texts of 200,000 and 200,000 characters are too long for {measure}")

"""number, json and json_schema."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.graders.json_values import first_difference, read_json
from fairtrial.graders.number import number_in
from fairtrial.graders.wording import common_prefix_length
from fairtrial.model.errors import UsageError
from fairtrial.model.json import canonical_json
from fairtrial.model.score import Score

Ask = Callable[..., Score]

FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("42", 42),
        ("the answer is 42.", 42),
        ("first 1, then 2", 2),
        ("1,234,567.5 in all", 1234567.5),
        ("$-3.5e-2", -0.035),
        ("minus \u22127", -7),
        ("3-4", 4),
        ("x=-4", -4),
        (".5 or so", 0.5),
        ("42%", 42),
        ("5kg", 5),
        ("(7)", 7),
        ("10\n", 10),
    ],
)
def test_the_number_of_a_text_is_found(text: str, number: float) -> None:
    assert number_in(text, "last") == number


@pytest.mark.parametrize("text", ["", "none", "v2", "1.2.3", "1,5", "\u0664\u0662", "NaN", "inf"])
def test_what_is_no_plain_number_is_none(text: str) -> None:
    assert number_in(text, "last") == f"found no number in {text!r}"


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**300), 10**300))
def test_every_number_is_read_back_from_its_text(number: float) -> None:
    assert number_in(f"it is {number!r}, I think", "only") == float(number)
    assert number_in(number, "last") == float(number)


@pytest.mark.parametrize(
    ("options", "output", "expected", "value", "reason"),
    [
        ({}, "41", 42, 0.0, "expected 42, got 41 (off by 1)"),
        ({}, 0.1 + 0.2, 0.3, 1.0, None),
        ({}, "so 42", "42", 1.0, "42 is 42"),
        ({"absolute": 1}, 41, 42, 1.0, "41 is near enough to 42"),
        ({"relative": 0.01}, 99, 100, 1.0, "99 is near enough to 100"),
        ({"relative": 0.0}, 0.1 + 0.2, 0.3, 0.0, None),
        ({"pick": "first"}, "42 of 50", 42, 1.0, "42 is 42"),
        ({"pick": "only"}, "42 of 50", 42, 0.0, None),
        ({"value": 7}, 7, 42, 1.0, "7 is 7"),
        ({}, math.nan, 42, 0.0, "expected 42, got nan, no finite number"),
        ({}, 10**400, 42, 0.0, None),
        ({}, "9" * 400, 42, 0.0, None),
        ({}, True, 1, 0.0, "expected 1, found no number in true"),
        ({}, None, 1, 0.0, "expected 1, found no number in null"),
        ({}, 1, "one", None, "the case's 'expected': found no number in 'one'"),
        ({}, 1, "1 or 2", None, "the case's 'expected': found several numbers in '1 or 2'"),
    ],
)
def test_number(
    ask: Ask,
    options: dict[str, Any],
    output: Any,
    expected: Any,
    value: float | None,
    reason: str | None,
) -> None:
    score = ask({"kind": "number", **options}, output, expected)
    assert score.value == value
    assert reason in (None, score.reason)


@pytest.mark.parametrize("option", ["value", "absolute", "relative"])
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_tolerances_are_finite(ask: Ask, option: str, number: float) -> None:
    with pytest.raises(UsageError, match=option):
        ask({"kind": "number", option: number}, 1, 1)


@pytest.mark.parametrize(
    ("options", "output", "expected", "value", "reason"),
    [
        ({}, '{"a": [1, 2]}', {"a": [1, 2.0]}, 1.0, "equals what is expected"),
        ({}, '```json\n{"a": 1}\n```', {"a": 1}, 1.0, None),
        ({}, {"a": 1}, '{"a": 1}', 1.0, None),
        ({}, {"a": 1, "b": 2}, {"a": 1}, 0.0, "unexpected /b"),
        ({"mode": "subset"}, {"a": {"x": 1, "y": 2}}, {"a": {"y": 2}}, 1.0, None),
        ({"mode": "subset"}, {"a": [1, 2]}, {"a": [1]}, 0.0, "at /a: expected 1 elements, got 2"),
        ({"path": "/r/0/n"}, '{"r": [{"n": "x"}]}', "x", 1.0, None),
        ({"path": "/r/1"}, {"r": [1]}, 1, 0.0, "nothing at /r/1"),
        ({"path": "/r/-1"}, {"r": [1]}, 1, 0.0, "nothing at /r/-1"),
        ({"path": "/a~1b"}, {"a/b": 1}, 1, 1.0, None),
        ({"value": {"a": None}}, {"a": None}, None, 1.0, None),
        ({}, "plain", "plain", 1.0, None),
        ({}, "NaN", {"a": 1}, 0.0, "the output is no JSON (NaN is no JSON number): 'NaN'"),
    ],
)
def test_json(
    ask: Ask,
    options: dict[str, Any],
    output: Any,
    expected: Any,
    value: float,
    reason: str | None,
) -> None:
    score = ask({"kind": "json", **options}, output, expected)
    assert score.value == value
    assert reason in (None, score.reason)


@pytest.mark.parametrize("piece", ["\n", "```\n", "1,234", "1.1.", "-", "9"])
def test_a_long_hostile_text_is_read_in_linear_time(piece: str) -> None:
    text = "```json\n" + piece * 200_000
    start = time.process_time()
    number_in(text, "last")
    with contextlib.suppress(ValueError):
        read_json(text)
    assert time.process_time() - start < 5  # a quadratic reader takes minutes


def test_a_path_that_is_no_pointer_is_told_before_the_run(ask: Ask) -> None:
    with pytest.raises(UsageError, match="'a' is no JSON pointer: it must start with '/'"):
        ask({"kind": "json", "path": "a"}, 1, 1)


@given(JSON)
def test_a_value_equals_itself_and_holds_itself(value: Any) -> None:
    assert first_difference(value, value) is None
    assert first_difference(value, value, subset=True) is None


@given(JSON, JSON)
def test_two_values_are_equal_when_their_canonical_json_is(a: Any, b: Any) -> None:
    if canonical_json(a) == canonical_json(b):
        assert first_difference(a, b) is None
    assert (first_difference(a, b) is None) == (first_difference(b, a) is None)


@given(st.text(), st.text(), st.text())
def test_the_common_start_of_two_texts(start: str, a: str, b: str) -> None:
    length = common_prefix_length(start + a, start + b)
    assert length >= len(start)
    assert (start + a)[:length] == (start + b)[:length]
    assert (start + a)[length : length + 1] != (start + b)[length : length + 1] or a == b


SCHEMA = {
    "type": "object",
    "required": ["when"],
    "properties": {"when": {"type": "string", "format": "date"}, "n": {"maximum": 3}},
}


@pytest.mark.parametrize(
    ("options", "output", "expected", "value", "reason"),
    [
        ({"schema": SCHEMA}, {"when": "2024-02-29"}, None, 1.0, "valid against the schema"),
        ({"schema": SCHEMA}, '{"when": "2024-02-30"}', None, 0.0, None),
        ({"schema": SCHEMA}, "{}", None, 0.0, "'when' is a required property"),
        (
            {"schema": SCHEMA},
            {"when": "2024-01-01", "n": 4},
            None,
            0.0,
            "at /n: 4 is greater than the maximum of 3",
        ),
        ({"schema": SCHEMA}, "no", None, 0.0, None),
        ({"schema": {"type": "string"}, "parse": False}, "42", None, 1.0, None),
        ({"schema": True}, 1, None, 1.0, None),
        ({"schema": False}, 1, None, 0.0, None),
        ({}, 1, {"type": "integer"}, 1.0, None),
        ({}, 1, '{"type": "integer"}', 1.0, None),
        ({}, 1, "no", None, None),
        ({}, 1, 3, None, "the case's 'expected' is no JSON Schema: a schema is an object, true or"),
        ({}, 1, {"type": "nosuch"}, None, "the case's 'expected' is no JSON Schema: at /type: "),
        (
            {"schema": {"$ref": "http://localhost:9/x.json"}},
            1,
            None,
            None,
            "the schema refers to http://localhost:9/x.json, which it does not hold",
        ),
    ],
)
def test_json_schema(
    ask: Ask,
    options: dict[str, Any],
    output: Any,
    expected: Any,
    value: float | None,
    reason: str | None,
) -> None:
    score = ask({"kind": "json_schema", **options}, output, expected)
    assert score.value == value
    assert score.reason is not None
    assert score.reason.startswith(reason or "")


def test_a_long_instance_does_not_hide_what_is_wrong_with_it(ask: Ask) -> None:
    score = ask({"kind": "json_schema", "schema": {"type": "object"}}, ["long " * 100])
    assert score.reason is not None
    assert score.reason.endswith("fails type 'object'")
    assert len(score.reason) < 120


def test_a_bad_schema_is_told_before_the_run(ask: Ask) -> None:
    with pytest.raises(UsageError, match="'schema' is no JSON Schema: at /type: 'text' is not"):
        ask({"kind": "json_schema", "schema": {"type": "text"}}, 1)

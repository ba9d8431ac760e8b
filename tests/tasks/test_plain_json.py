"""Values of user code become private, plain JSON, or are refused by name."""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.tasks.plain_json import NotJsonError, plain_json

_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=20,
)


@given(_JSON)
def test_json_is_copied_as_it_is(value: Any) -> None:
    copy = plain_json(value)
    assert copy == value
    assert type(copy) is type(value)
    if isinstance(value, list | dict):
        assert copy is not value


def test_what_json_can_express_becomes_plain() -> None:
    class Colour(enum.StrEnum):
        RED = "red"

    value = {"t": (1, 2), "e": Colour.RED, "f": np.float64(0.5), "m": MappingProxyType({"a": 1})}
    copy = plain_json(value)
    assert copy == {"t": [1, 2], "e": "red", "f": 0.5, "m": {"a": 1}}
    assert type(copy["e"]) is str
    assert type(copy["f"]) is float


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [1, {2}]}, "builtins.set is no JSON value at ['a'][1]"),
        ({1: 2}, "the key 1 is no text"),
        (float("nan"), "nan is no JSON number"),
        ([float("inf")], "inf is no JSON number at [0]"),
        ("\ud800", "half a character"),
        (10**400, "more than 1024 bits"),
        (np.int64(3), "numpy.int64 is no JSON value"),
        (b"bytes", "builtins.bytes is no JSON value"),
    ],
)
def test_anything_else_is_refused_by_name(value: Any, message: str) -> None:
    with pytest.raises(NotJsonError) as caught:
        plain_json(value)
    assert message in str(caught.value)


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(NotJsonError, match="deeper than 200"):
        plain_json(value)

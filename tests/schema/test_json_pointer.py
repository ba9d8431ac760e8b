"""JSON pointers: the examples of RFC 6901, and what leads nowhere."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.schema.json_pointer import (
    LeadsNowhereError,
    parse_pointer,
    pointer_text,
    resolve_pointer,
)

_RFC: dict[str, Any] = {
    "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6,
    " ": 7, "m~n": 8,
}  # fmt: skip


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", _RFC), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1),
        ("/c%d", 2), ("/e^f", 3), ("/g|h", 4), ("/i\\j", 5), ('/k"l', 6), ("/ ", 7), ("/m~0n", 8),
    ],
)  # fmt: skip
def test_the_examples_of_the_rfc(pointer: str, value: Any) -> None:
    assert resolve_pointer(_RFC, parse_pointer(pointer)) == value


@pytest.mark.parametrize("pointer", ["foo", "/a~2", "/a~"])
def test_what_is_no_pointer(pointer: str) -> None:
    with pytest.raises(ValueError, match="JSON pointer"):
        parse_pointer(pointer)


@pytest.mark.parametrize(
    ("pointer", "message"),
    [
        ("/bar", "no 'bar' in the document, an object with foo"),
        ("/foo/2", "no '2' in /foo, a list of 2"),
        ("/foo/-", "no '-'"),
        ("/foo/00", "no '00'"),
        ("/foo/" + "9" * 5000, "no '999"),
        ("/foo/0/x", "no 'x' in /foo/0, which is no object or list"),
    ],
)
def test_a_pointer_that_leads_nowhere_says_where_it_ends(pointer: str, message: str) -> None:
    with pytest.raises(LookupError) as caught:
        resolve_pointer(_RFC, parse_pointer(pointer))
    assert message in str(caught.value)


def test_where_a_pointer_ends_is_a_pointer() -> None:
    with pytest.raises(LeadsNowhereError) as caught:
        resolve_pointer({"a/b": {}}, parse_pointer("/a~1b/~0/c"))
    assert caught.value.pointer == "/a~1b/~0"


@given(st.lists(st.text(max_size=3), max_size=4), st.integers())
def test_a_pointer_leads_to_what_was_put_there(steps: list[str], value: int) -> None:
    whole: Any = value
    for step in reversed(steps):
        whole = {step: whole}
    assert parse_pointer(pointer_text(steps)) == tuple(steps)
    assert resolve_pointer(whole, tuple(steps)) == value

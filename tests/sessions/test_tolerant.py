"""Records that are torn, glued together, or of an unknown form."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.sessions.tolerant import Records, parsed, plain, unglued


class Some(msgspec.Struct):
    """A record of these tests."""

    a: int | None = None
    b: str | None = None


RECORDS = Records(Some)


def test_a_field_of_another_form_is_left_out_alone() -> None:
    assert RECORDS.of(b'{"a": {"new": 1}, "b": "x", "c": []}') == Some(None, "x")


def test_what_is_no_record_gives_none() -> None:
    for line in (b"", b"[]", b"\xff\xfe\x00", b'{"a": 1', b"null", b"\x00\x00"):
        assert RECORDS.of(line) is None


def test_half_a_surrogate_pair_becomes_a_question_mark() -> None:
    assert RECORDS.of(rb'{"b": "x\ud800y"}') == Some(None, "x?y")


def test_bytes_in_another_encoding_are_replaced() -> None:
    found = RECORDS.of(b'{"b": "caf\xe9"}')
    assert found == Some(None, "caf\ufffd")


def test_two_records_in_a_line_are_two() -> None:
    line = b'{"type":"a","x":{"y":1}}{"type":"b"}'
    assert list(unglued(line)) == [b'{"type":"a","x":{"y":1}}', b'{"type":"b"}']


def test_a_whole_record_behind_a_torn_one_is_found() -> None:
    torn = b'{"type":"user","message":{"content":"it said {\\"no'
    assert list(unglued(torn + b'{"type":"b","x":1}')) == [b'{"type":"b","x":1}']


def test_a_part_of_a_torn_record_is_none() -> None:
    assert list(unglued(b'{"type":"user","message":{"a":1},"rest":"torn')) == []


@given(st.binary(max_size=200))
def test_nothing_fails(line: bytes) -> None:
    RECORDS.of(line)
    plain(line)
    list(unglued(line))


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=8,
    )
)
def test_any_json_gives_a_record_or_none(value: Any) -> None:
    found = RECORDS.of(msgspec.json.encode(value))
    assert found is None or isinstance(found, Some)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "x\\ud83d"}', {"a": "x?"}),
        ('{"\\udc00": ["\\ud83d"]}', {"?": ["?"]}),
        (' [1, {"a": null}]', [1, {"a": None}]),
        ('{"a": ', '{"a": '),
        ("[" * 100_000, "[" * 100_000),
        ("17", "17"),
        (17, 17),
    ],
    ids=range(7),
)
def test_json_in_a_text_is_its_value_with_whole_letters(text: object, value: object) -> None:
    assert parsed(text) == value

"""What goes into a column comes out of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.store.codec import (
    from_json,
    from_micros,
    from_packed,
    to_json,
    to_micros,
    to_packed,
    to_text,
)

_ANY_TEXT = st.text(alphabet=st.characters())
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(_JSON)
def test_json_survives(value: Json) -> None:
    assert from_json(to_json(value)) == value


def test_a_dataclass_becomes_an_object_by_either_encoder() -> None:
    for text in ("plain", "half a pair: \ud83d"):
        value = from_json(to_json({"tokens": Tokens(input=3), "text": text}))
        assert value["text"] == text
        assert Tokens(**value["tokens"]) == Tokens(input=3)


@pytest.mark.parametrize("value", [object(), [object(), "\ud83d"], ["\ud83d", object()], [Tokens]])
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        to_json(value)


@given(st.datetimes(timezones=st.just(UTC)))
def test_an_instant_survives(when: datetime) -> None:
    assert from_micros(to_micros(when)) == when


def test_an_instant_is_kept_in_utc() -> None:
    there = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert from_micros(to_micros(there)).isoformat() == "2026-01-01T00:00:00+00:00"


@given(st.lists(st.integers(0, 2**31 - 1)))
def test_positions_survive(numbers: list[int]) -> None:
    assert from_packed(to_packed(numbers)) == numbers


def test_positions_that_follow_each_other_take_little() -> None:
    assert len(to_packed(range(100_000))) < 2_000


@given(st.none() | _ANY_TEXT)
def test_text_is_what_utf8_can_hold(text: str | None) -> None:
    kept = to_text(text)
    if text is None:
        assert kept is None
    else:
        assert kept is not None
        assert kept.encode().decode() == kept
        assert len(kept) == len(text)


@pytest.mark.parametrize(
    "when",
    [
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
        datetime.max.replace(tzinfo=UTC),
        10**30,
        -(10**30),
    ],
)
def test_an_instant_beyond_the_calendar_is_the_nearest_within(when: datetime | int) -> None:
    kept = from_micros(to_micros(when) if isinstance(when, datetime) else when)
    for hours in (-14, 14):
        assert kept.astimezone(timezone(timedelta(hours=hours))).year in (1, 9999)

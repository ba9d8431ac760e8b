"""How long a server asks to wait."""

from __future__ import annotations

import pytest

from fairtrial.wire.retry_after import seconds_to_wait

_DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
    ("retry_after", "date", "seconds"),
    [
        (None, None, None),
        ("120", None, 120.0),
        ("1.5", None, 1.5),
        ("0", None, 0.0),
        ("-3", None, None),
        ("inf", None, None),
        ("nan", None, None),
        ("soon", None, None),
        ("Wed, 21 Oct 2026 07:28:30 GMT", _DATE, 30.0),
        ("Wed, 21 Oct 2026 07:27:00 GMT", _DATE, 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", None, 0.0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", "no date", 0.0),
    ],
)
def test_how_long_to_wait(retry_after: str | None, date: str | None, seconds: float | None) -> None:
    assert seconds_to_wait(retry_after, date) == seconds


@pytest.mark.parametrize(
    ("milliseconds", "seconds"),
    [("250", 0.25), ("0", 0.0), ("-1", 7.0), ("soon", 7.0), ("nan", 7.0), (None, 7.0)],
)
def test_milliseconds_win_where_they_can_be_read(milliseconds: str | None, seconds: float) -> None:
    assert seconds_to_wait("7", None, milliseconds=milliseconds) == seconds

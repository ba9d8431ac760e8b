"""How long a server asks to wait."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def seconds_to_wait(
    retry_after: str | None, date: str | None, *, milliseconds: str | None = None
) -> float | None:
    """Return what a Retry-After header asks for, in seconds; None when it says nothing usable.

    Args:
        retry_after: Seconds, or an HTTP date.
        date: The response's Date header; against it an HTTP date needs no synchronous clocks.
        milliseconds: The header `retry-after-ms`, which wins.
    """
    exact = _number(milliseconds)
    if exact is not None:
        return exact / 1000
    if retry_after is None:
        return None
    until = _moment(retry_after)
    if until is None:
        return _number(retry_after)
    now = _moment(date or "") or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

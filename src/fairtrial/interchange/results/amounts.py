"""Numbers, moments and words as other tools write them, checked before they count."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Final

from fairtrial.interchange.results.contract import Cause
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens

_TRUE: Final = frozenset({"true", "yes", "y", "pass", "passed", "success", "ok", "correct"})
_FALSE: Final = frozenset({"false", "no", "n", "fail", "failed", "failure", "incorrect", "wrong"})
_LARGEST_S: Final = 32_503_680_000
"""The year 3000."""
_MILLISECONDS: Final = 10**11
"""A moment in seconds that is beyond it is one in milliseconds."""
_LOOKED_AT: Final = 4_000
_INFRA: Final = re.compile(
    r"rate.?limit|\b429\b|too many requests|overloaded|\b(?:500|502|503|504|529)\b|"
    r"internal ?server ?error|server ?error|service ?unavailable|bad gateway|gateway timeout|"
    r"connection ?(?:error|reset|refused|aborted|closed)|\bECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|"
    r"socket hang up|fetch failed|network ?(?:error|is unreachable)|name resolution|\bDNS\b|"
    r"api ?(?:connection|timeout) ?error|(?:read|connect|pool) ?timeout|remote ?protocol ?error|"
    r"insufficient.quota|exceeded your current quota|credit balance|usage limit|\b40[13]\b|"
    r"unauthori[sz]ed|authentication ?error|permission ?denied ?error|invalid.{0,10}api.?key|"
    r"docker|container (?:exited|failed)|environment ?(?:start|setup|build)|sandbox|"
    r"no space left|cannot allocate memory|setup ?(?:failed|error|timeout)",
    re.IGNORECASE,
)
_CANCELLED: Final = re.compile(r"cancel(?:l)?ed|keyboard ?interrupt", re.IGNORECASE)
_LIMIT: Final = re.compile(
    r"time.?out|timed.?out|time.?limit|deadline exceeded|max(?:imum)?.?(?:turns|steps|iterations)",
    re.IGNORECASE,
)


def cause_of(text: str, otherwise: Cause = "task") -> Cause:
    """Return who is to blame for an error that another tool only has words for.

    Args:
        text: Its name and message.
        otherwise: What it is when the words tell nothing.
    """
    looked_at = text[:_LOOKED_AT]
    if _CANCELLED.search(looked_at):
        return "undecidable"
    if _INFRA.search(looked_at):
        return "infra"
    return "limit" if _LIMIT.search(looked_at) else otherwise


def number(value: Json) -> float | None:
    """Return a finite number, also one that is written as a text; None where there is none."""
    if isinstance(value, bool) or value is None:
        return None
    if not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (OverflowError, ValueError):
        return None
    return found if math.isfinite(found) else None


def amount(value: Json) -> float | None:
    """Return a finite number that is not negative."""
    found = number(value)
    return found if found is not None and found >= 0 else None


def count(value: Json) -> int | None:
    """Return a whole number that is not negative."""
    found = number(value)
    if found is None or found < 0 or found != int(found) or found > 2**53:
        return None
    return int(found)


def truth(value: Json) -> bool | None:
    """Return whether something is said to be so; None where nothing is said."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _TRUE or word == "1":
            return True
        if word in _FALSE or word == "0":
            return False
    return None


def moment(value: Json) -> datetime | None:
    """Return a moment: a text as of ISO 8601, or seconds or milliseconds since 1970.

    A text without a zone is in UTC.
    """
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip())
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        except (OverflowError, ValueError):
            pass
    seconds = amount(value)
    if seconds is None:
        return None
    if seconds > _MILLISECONDS:
        seconds /= 1000
    return datetime.fromtimestamp(seconds, UTC) if seconds < _LARGEST_S else None


def seconds_between(start: datetime | None, end: datetime | None) -> float | None:
    """Return how long something took; None where that is not known."""
    if start is None or end is None or end < start:
        return None
    return (end - start).total_seconds()


def tokens_of(**counts: Json) -> Tokens | None:
    """Return tokens of counts by their names; None when none is known."""
    found = Tokens(**{name: count(value) for name, value in counts.items()})
    return None if found == Tokens() else found


def object_of(value: Json) -> dict[str, Json]:
    """Return an object; an empty one where there is none."""
    return value if isinstance(value, dict) else {}


def list_of(value: Json) -> list[Json]:
    """Return a list; an empty one where there is none."""
    return value if isinstance(value, list) else []


def word(value: Json) -> str | None:
    """Return a text, or a number as one; None where there is none."""
    if isinstance(value, bool) or value == "":
        return None
    return str(value) if isinstance(value, str | int | float) else None

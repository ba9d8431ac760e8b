"""Numbers, times and texts of unknown origin, as the pages show them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Final

from fairtrial.interchange.experiment_exports.visible_text import one_line, shortened, visible
from fairtrial.model.json import Json
from fairtrial.model.wording import usd

DASH: Final = "–"
_NAME: Final = 120
_KEYS: Final = 20
"""Keys of an object that are told on one line."""
TURN: Final = {"text", "tool_uses", "stop"}
"""Keys of a turn of a model."""
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def money(amount: float | None) -> str:
    """Return US dollars, or a dash where unknown."""
    return DASH if amount is None else usd(amount)


def percent(share: float | None) -> str:
    """Return a share as a percentage to one decimal, or a dash where there is none.

    Only nothing is 0 %, and only all is 100 %.
    """
    if share is None:
        return DASH
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    text = f"{100 * share:.1f}"
    return {"0.0": "<0.1 %", "100.0": ">99.9 %"}.get(text, f"{text} %")


def number(value: float | None) -> str:
    """Return a score with at most three digits after the point, or a dash where there is none."""
    return DASH if value is None else f"{value:.3f}".rstrip("0").rstrip(".")


def signed(value: float | None) -> str:
    """Return a difference with its sign, or a dash where there is none."""
    if value is None:
        return DASH
    text = number(abs(value))
    return "±0" if text == "0" else f"{'+' if value > 0 else '−'}{text}"


def points(value: float | None) -> str:
    """Return a difference of shares in points with its sign, or a dash where there is none."""
    if value is None:
        return DASH
    text = f"{abs(100 * value):.1f}"
    return "±0" if text == "0.0" else f"{'+' if value > 0 else '−'}{text}"


def count(n: int) -> str:
    """Return a count with its thousands apart."""
    return f"{n:,}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def duration(seconds: float | None) -> str:
    """Return a duration in at most two units, or a dash where unknown."""
    if seconds is None:
        return DASH
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def when(moment: datetime) -> str:
    """Return a moment in local time, to the minute."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def ago(moment: datetime, now: datetime) -> str:
    """Return how long ago a moment is, for a list; the date when it is weeks."""
    passed = (now - moment).total_seconds()
    if passed < _MINUTE:
        return "just now"
    for unit, length, most in (("min", _MINUTE, 60), ("h", _HOUR, 24), ("d", _DAY, 14)):
        if passed < length * most:
            return f"{passed // length:.0f} {unit} ago"
    return f"{moment.astimezone():%Y-%m-%d}"


def name(text: object, most: int = _NAME) -> str:
    """Return a name from outside on one line, with hidden characters as escapes."""
    return one_line(str(text), most) or "(empty)"


def text_of(value: Json) -> str:
    """Return a JSON value as people read it: a text as it is, anything else indented."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def brief(value: Json, most: int = 160) -> str:
    """Return a JSON value on one line, cut short; an object by its keys, of one key its value.

    A turn of a model is told by what it says and calls.
    """
    if isinstance(value, dict) and value.keys() == TURN:
        return one_line(_turn(value, most), most)
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    if isinstance(value, dict) and value:
        parts = islice(value.items(), _KEYS)
        return one_line(
            " · ".join(f"{key[:most]}: {_inner(part, most)}" for key, part in parts), most
        )
    return one_line(_inner(value, most) if isinstance(value, str) else _json(value, most), most)


def _turn(turn: Mapping[str, Any], most: int) -> str:
    uses = turn["tool_uses"] if isinstance(turn["tool_uses"], list) else []
    calls = [
        f"[{use.get('name')} {_json(use.get('input'), most)}]"
        for use in uses[:_KEYS]
        if isinstance(use, dict)
    ]
    return " ".join(part for part in (str(turn["text"] or "")[: most * 4], *calls) if part)


def _inner(value: Json, most: int) -> str:
    if isinstance(value, str):
        return value[: most * 4]
    if isinstance(value, list):
        return counted(len(value), "item")
    return "{…}" if isinstance(value, dict) and value else _json(value, most)


def _json(value: Json, most: int) -> str:
    return json.dumps(value, ensure_ascii=False)[: most * 4]


FILTERS: Final = {
    "money": money,
    "percent": percent,
    "number": number,
    "signed": signed,
    "points": points,
    "count": count,
    "counted": counted,
    "duration": duration,
    "when": when,
    "ago": ago,
    "name": name,
    "brief": brief,
    "text_of": text_of,
    "visible": visible,
    "shortened": shortened,
}

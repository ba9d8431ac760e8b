"""Numbers and times in words, the same in every report."""

from __future__ import annotations

from datetime import datetime

from fairtrial.model.comparison import FlipCounts
from fairtrial.model.wording import excerpt


def percent(share: float | None) -> str:
    """Return a share as a percentage, or a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f}%"


def points(share: float) -> str:
    """Return a difference of rates in percentage points."""
    return f"{100 * share:.3g} percentage points"


def money(usd: float | None) -> str:
    """Return US dollars with as many digits as matter, or a dash where unknown."""
    if usd is None:
        return "–"
    return f"${usd:,.2f}" if usd >= 1 else f"${usd:.4f}"


def spent(task: float | None, grading: float | None) -> list[str]:
    """Return what tasks and graders cost, as far as it is known."""
    return [
        *([money(task)] if task is not None else []),
        *([f"grading {money(grading)}"] if grading is not None else []),
    ]


def reused(source: str, calls: int, saved: float | None) -> str:
    """Return how many answers were served again, and what that saved."""
    places = {"cache": "from the cache", "recording": "from the recording"}
    worth = f" (saved {money(saved)})" if saved else ""
    return f"{counted(calls, 'answer')} {places.get(source, source)}{worth}"


def duration(seconds: float | None) -> str:
    """Return a duration in at most two units, or a dash where unknown."""
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def number(value: float | None) -> str:
    """Return a score or a mean with three digits after the point, or a dash where there is none."""
    return "–" if value is None else f"{value:.3f}"


def when(moment: datetime) -> str:
    """Return a moment in local time, to the minute."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def flips(counts: FlipCounts | None) -> str:
    """Return what was fixed and broken as `+3/−1`, or a dash where that is unknown."""
    return "–" if counts is None else f"+{counts.fixed:,}/−{counts.broken:,}"


def quantity(name: str, value: float | None) -> str:
    """Return a measured value in the unit that its name ends with: `_s` or `_bytes`."""
    if value is None:
        return "–"
    size = abs(value)
    if name.endswith("_s"):
        if size >= 60:
            return f"{value:,.0f} s"
        scale, unit = (1.0, "s") if size >= 1 else (1e3, "ms") if size >= 1e-3 else (1e6, "µs")
        return f"{scale * value:.3g} {unit}"
    if name.endswith("_bytes"):
        for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
            if size >= scale:
                return f"{value / scale:.3g} {unit}"
        return f"{value:.0f} B"
    return f"{value:,.0f}" if 1000 <= size < 1e9 else f"{value:.4g}"


def named(name: str, most: int = 200) -> str:
    """Return a name from outside: `(empty)` for none, and the start of a very long one."""
    return excerpt(name, most)

"""Numbers and times in words, the same in every report."""

from __future__ import annotations

from datetime import datetime


def percent(share: float | None) -> str:
    """Return a share as a percentage, or a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f}%"


def money(usd: float | None) -> str:
    """Return US dollars with as many digits as matter, or a dash where unknown."""
    if usd is None:
        return "–"
    return f"${usd:,.2f}" if usd >= 1 else f"${usd:.4f}"


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

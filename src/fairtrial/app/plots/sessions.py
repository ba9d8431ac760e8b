"""`sessions stats` as a picture: the sessions of each week, and those that went wrong."""

from __future__ import annotations

from collections import Counter

from fairtrial.app.reports.session_sums import SessionStatsReport
from fairtrial.interchange.pictures.forest import headed
from fairtrial.interchange.pictures.histogram import Bar, add_histogram
from fairtrial.interchange.pictures.svg import Drawing

_WIDTH = 860
_MOST_WEEKS = 52
_MOST_FLAGS = 12


def sessions_picture(report: SessionStatsReport) -> Drawing:
    """Draw the sessions of each week, the flagged ones, and how often each flag is there."""
    sessions: Counter[str] = Counter()
    flagged: Counter[str] = Counter()
    flags: Counter[str] = Counter()
    for tally in report.tallies:
        sessions[tally.week] += tally.sessions
        flagged[tally.week] += tally.flagged
        flags.update(tally.flags)
    total, wrong = sum(sessions.values()), sum(flagged.values())
    title = "Captured sessions by week"
    drawing = Drawing(_WIDTH, title)
    y = headed(drawing, title, f"{total:,} sessions, {wrong:,} of them flagged")
    weeks = sorted(sessions)[-_MOST_WEEKS:]
    if not weeks:
        drawing.text((20.0, y + 40), "There is nothing to draw.", size=13)
        return drawing
    bars = [Bar(week[5:], sessions[week], "first") for week in weeks]
    y = add_histogram(drawing, "Sessions", bars, y, "week that begins on")
    if wrong:
        bars = [Bar(week[5:], flagged[week], "worse") for week in weeks]
        y = add_histogram(drawing, "Flagged", bars, y + 10, "week that begins on")
    if flags:
        named = [Bar(name, count, "second") for name, count in flags.most_common(_MOST_FLAGS)]
        add_histogram(drawing, "Sessions with each flag", named, y + 10)
    return drawing

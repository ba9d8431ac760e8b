"""`sessions stats` as text."""

from __future__ import annotations

from collections import Counter

from rich.console import Console

from fairtrial.app.reports.session_sums import SessionStatsReport
from fairtrial.cli.render.lines import line, section, table
from fairtrial.cli.render.words import money, percent
from fairtrial.ports.sessions import SessionTally


def render(report: SessionStatsReport, console: Console) -> None:
    """Print sums by week and agent, and how often each flag is there."""
    if not report.tallies:
        line(console, "No session fits. Read new ones with: fairtrial sessions sync")
        return
    columns = ("Week", "Agent", ">Sessions", ">Flagged", ">Tokens", ">Cost", "Flags")
    table(console, columns, [_row(tally) for tally in report.tallies])
    flags: Counter[str] = Counter()
    for tally in report.tallies:
        flags.update(tally.flags)
    if not flags:
        return
    total = sum(tally.sessions for tally in report.tallies)
    section(console, "Sessions with each flag")
    rows = [(name, f"{count:,}", percent(count / total)) for name, count in flags.most_common()]
    table(console, ("Flag", ">Sessions", ">Share"), rows)


def _row(tally: SessionTally) -> tuple[str, ...]:
    flags = " ".join(
        f"{name} {count:,}"
        for name, count in sorted(tally.flags.items(), key=lambda found: (-found[1], found[0]))
    )
    return (
        tally.week,
        tally.agent,
        f"{tally.sessions:,}",
        f"{tally.flagged:,}",
        f"{tally.tokens:,}",
        money(tally.cost_usd if tally.costed else None),
        flags or "–",
    )

"""`sessions flags` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.session_sums import FlagRulesReport, SessionFlagsReport
from fairtrial.cli.render.lines import line, section, table
from fairtrial.cli.render.sessions_show import show_event
from fairtrial.cli.render.words import counted


def render(report: FlagRulesReport | SessionFlagsReport, console: Console) -> None:
    """Print the rules, or the flags of a session."""
    if isinstance(report, SessionFlagsReport):
        _of_session(report, console)
        return
    for trouble in report.troubles:
        line(console, trouble, "red")
    if report.checked is not None:
        line(console, f"Looked at {counted(report.checked, 'session')} again")
    if not report.rules:
        line(console, "No rule that flags sessions is installed")
        return
    rows = [
        (rule.name, f"{rule.sessions:,}", ("muted: " if rule.muted else "") + rule.summary)
        for rule in report.rules
    ]
    table(console, ("Flag", ">Sessions", "When"), rows)


def _of_session(report: SessionFlagsReport, console: Console) -> None:
    if not report.found.flags:
        line(console, f"No flag is on {report.found.session.id}")
    for flag in report.found.flags:
        section(console, f"{flag.name} ({flag.level.value})")
        line(console, flag.summary)
        for number in flag.evidence:
            if number in report.events:
                show_event(report.events[number], console, full=False)

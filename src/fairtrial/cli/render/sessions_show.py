"""`sessions show` as text: the transcript as one reads it, with the flags at their turns."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console

from fairtrial.app.reports.session import SessionReport
from fairtrial.cli.render.lines import block, line, section
from fairtrial.cli.render.session_start import headline
from fairtrial.cli.render.sessions import ended, took, work
from fairtrial.cli.render.words import counted, duration
from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
    Compaction,
    FileChange,
    Prompt,
    Result,
    ResultStatus,
    Said,
    Session,
    SessionEvent,
    Thought,
    TurnEnd,
    TurnEndReason,
)

_LINES = 6
_LONGEST = 600


def render(report: SessionReport, console: Console) -> None:
    """Print a session."""
    _facts(report, console)
    flags: dict[int, list[Flag]] = {}
    for flag in report.found.flags:
        if flag.evidence:
            flags.setdefault(flag.evidence[-1], []).append(flag)
    decisions: dict[int, list[DecisionPoint]] = {}
    for point in report.decisions:
        decisions.setdefault(point.after, []).append(point)
    section(console, "Transcript")
    for event in report.events:
        show_event(event, console, full=report.full)
        for flag in flags.get(event.number, ()):
            line(console, f"      ⚑ {flag.name}: {flag.summary}", _style(flag))
        for point in decisions.get(event.number, ()):
            how, style = ("badly", "yellow") if point.bad else ("well", "dim")
            line(console, f"      ◆ {point.behavior}, chose {how}: {point.summary}", style)


def _facts(report: SessionReport, console: Console) -> None:
    session, flags = report.found.session, report.found.flags
    version = f" {session.agent_version}" if session.agent_version else ""
    line(console, f"{session.id}  {session.agent}{version}  {session.state.value}", "bold")
    line(console, _where(session))
    line(console, f"ended {ended(session)}, took {took(session)}: {work(session)}")
    if session.models:
        line(console, f"models: {', '.join(session.models)}")
    if session.parent_id is not None and session.relation is not None:
        line(console, f"{session.relation.value} of {session.parent_id}")
    if report.children:
        line(console, f"from it came: {', '.join(report.children)}")
    line(console, headline(report.start))
    unread = session.unread
    missed = sum(unread.unknown_records.values()) + unread.bad_lines + unread.clipped_lines
    if missed:
        line(console, f"{counted(missed, 'record')} of {unread.records:,} not understood", "yellow")
    for flag in flags:
        numbers = ", ".join(f"#{number}" for number in flag.evidence[:8])
        line(console, f"⚑ {flag.name}: {flag.summary}  {numbers}", _style(flag))


def _where(session: Session) -> str:
    branch = f" on {session.branch}" if session.branch else ""
    commit = f" at {session.commit[:10]}" if session.commit else ""
    return f"{session.cwd or 'an unknown folder'}{branch}{commit}"


def _style(flag: Flag) -> str:
    return "yellow" if flag.level is FlagLevel.WARN else "dim"


def show_event(event: SessionEvent, console: Console, *, full: bool) -> None:
    """Print an event; without `full` only the start of what it holds."""
    head = f"#{event.number:<4}"
    if event.thread != MAIN:
        head += f" [{event.thread[:8]}]"
    match event:
        case Prompt():
            console.print()
            line(console, f"{head} {event.source.value}", "bold")
            _text(console, event.text, full=full)
        case Said():
            line(console, f"{head} said", "bold")
            _text(console, event.text, full=full)
        case Thought() if full and event.text:
            line(console, f"{head} thought", "dim")
            _text(console, event.text, full=full)
        case Call():
            line(console, f"{head} {event.tool}  {_asked(event)}", "cyan", cut=not full)
        case Result():
            _result(event, head, console, full=full)
        case ApiTrouble():
            ended_so = "the turn ended" if event.final else "tried again"
            line(console, f"{head} trouble with the API, {ended_so}: {event.text}", "red")
        case Compaction():
            line(console, f"{head} the conversation was replaced by a summary", "dim")
        case TurnEnd() if event.reason is not TurnEndReason.COMPLETED:
            line(console, f"{head} the turn ended: {event.reason.value}", "yellow")
        case _:
            return


def _asked(call: Call) -> str:
    if call.command is not None:
        return call.command
    if call.paths:
        return " ".join(call.paths)
    return call.input if isinstance(call.input, str) else json.dumps(call.input, ensure_ascii=False)


def _result(result: Result, head: str, console: Console, *, full: bool) -> None:
    facts = [result.status.value]
    if result.exit_code is not None:
        facts.append(f"exit {result.exit_code}")
    if result.duration_s is not None:
        facts.append(duration(result.duration_s))
    bad = result.status in (ResultStatus.FAIL, ResultStatus.NO_RUN)
    line(console, f"{head}   {', '.join(facts)}", "red" if bad else "dim")
    if result.changes:
        _changes(console, result.changes, full=full)
    elif result.text.strip():
        _text(console, result.text, full=full)


def _changes(console: Console, changes: Sequence[FileChange], *, full: bool) -> None:
    for change in changes:
        to = f" to {change.to}" if change.to else ""
        line(console, f"        {change.kind.value} {change.path}{to}")
        _text(console, change.diff, full=full)


def _text(console: Console, text: str, *, full: bool) -> None:
    shown = text.strip("\n")
    if not full:
        lines = shown[:_LONGEST].split("\n")
        cut = len(lines) > _LINES or len(shown) > _LONGEST
        shown = "\n".join(lines[:_LINES]) + (" …" if cut else "")
    if shown:
        block(console, shown, "        ")

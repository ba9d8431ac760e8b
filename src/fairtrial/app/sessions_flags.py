"""`sessions flags`: the rules that flag sessions, and the flags of one."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.reports.session_sums import FlagRulesReport, RuleLine, SessionFlagsReport
from fairtrial.app.requests.sessions_flags import Request
from fairtrial.app.session_filters import session_query
from fairtrial.app.session_syncing import MUTED, muted_flags, syncer
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.events import FilesRead
from fairtrial.ports.sessions import SessionQuery
from fairtrial.sessions.registry import flag_rules
from fairtrial.sessions.syncing import Outcome


def sessions_flags(bench: Bench, request: Request) -> FlagRulesReport | SessionFlagsReport:
    """Return the rules, or the flags of a session.

    Raises:
        NotFoundError: there is no such session, or no such rule.
        UsageError: a session is named together with what concerns all of them, or the filter is
            not understood.
        StoreError: the store cannot be read or written.
    """
    if request.session is not None:
        if request.mute or request.unmute or request.again or request.where is not None:
            raise UsageError(
                "--where, --mute, --unmute and --again concern many sessions",
                fix="leave the session out",
            )
        return _of_session(bench, request.session)
    query = session_query(bench, request.where)
    troubles: list[str] = []
    rules = {rule.name: rule for rule in flag_rules((), troubles.append)}
    _mute(bench, request, list(rules))
    checked = _again(bench, troubles) if request.again else None
    counts = bench.store.sessions.flag_counts(query)
    muted = muted_flags(bench)
    lines = [
        RuleLine(
            name,
            rules[name].summary if name in rules else "no rule of this name is installed",
            name in muted,
            counts.get(name, 0),
        )
        for name in sorted({*rules, *counts, *muted})
    ]
    return FlagRulesReport(lines, troubles, checked)


def _of_session(bench: Bench, ref: str) -> SessionFlagsReport:
    store = bench.store.sessions
    found = store.find(ref)
    wanted = {number for flag in found.flags for number in flag.evidence}
    events = store.events(found.session.id) if wanted else ()
    return SessionFlagsReport(
        found, {event.number: event for event in events if event.number in wanted}
    )


def _mute(bench: Bench, request: Request, known: list[str]) -> None:
    before = muted_flags(bench)
    for name in request.mute:
        if name not in known:
            raise NotFoundError(
                f"there is no flag rule {name}", fix=f"known: {', '.join(known) or 'none'}"
            )
    muted = sorted({*before, *request.mute} - set(request.unmute))
    if muted == before:
        return
    settings = bench.store.settings
    if muted:
        settings.set(MUTED, muted, bench.clock.now())
    else:
        settings.delete(MUTED)
    bench.store.sessions.take_off(request.mute)


def _again(bench: Bench, troubles: list[str]) -> int:
    """Let the rules look at all sessions, a page at a time."""
    store = bench.store.sessions
    ids = store.ids(SessionQuery(), None)
    outcome = Outcome()
    flagging = syncer(bench, troubles.append)
    for at in range(0, len(ids), 50):
        flagging.flag(ids[at : at + 50], outcome)
        bench.publish(FilesRead(min(at + 50, len(ids)), len(ids)))
    troubles += outcome.troubles
    return len(ids)

"""Cases out of captured sessions: what the agent was asked first, and what it began with."""

from __future__ import annotations

from collections.abc import Sequence

from fairtrial.app.bench import Bench
from fairtrial.app.session_starts import start_of
from fairtrial.interchange.experiment_exports.export import timestamp
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.model.session import Relation, Session
from fairtrial.model.start_state import BaseSource
from fairtrial.sessions.account import is_clipped


def session_cases(bench: Bench, refs: Sequence[str]) -> dict[CaseKey, Case]:
    """Return a case for each session; its id is that of the session, so it is always the same.

    Raises:
        NotFoundError: a reference names no session, or several.
        UsageError: a session has no prompt that a case can be made of.
        StoreError: the events of one are damaged.
    """
    found: dict[CaseKey, Case] = {}
    for ref in refs:
        session = bench.store.sessions.find(ref).session
        case = Case(session.id, _prompt(session), metadata=_metadata(bench, session))
        found[case.key] = case
    return found


def _prompt(session: Session) -> str:
    """Return what a session was asked first.

    Raises:
        UsageError: nobody asked it, or the prompt is not kept whole.
    """
    what = f"{session.id} cannot become a case"
    if session.relation is Relation.SUBAGENT:
        raise UsageError(
            what,
            where="--session",
            why="it is the session of a subagent: another agent wrote its prompt",
            fix=f"name the session that started it: {session.parent_id}",
        )
    prompt = session.first_prompt or ""
    if not prompt.strip():
        raise UsageError(what, where="--session", why="it has no prompt of a person or a program")
    if is_clipped(prompt):
        raise UsageError(
            what,
            where="--session",
            why="its first prompt is too long: the middle of it is not kept",
            fix="write the case yourself, from the agent's own transcript",
        )
    return prompt


def _metadata(bench: Bench, session: Session) -> dict[str, Json]:
    state = start_of(bench, session, bench.store.sessions.events(session.id))
    base = state.base
    named = base is not None and base.source is not BaseSource.AGENT_TREE
    commit = base.commit if base is not None and named else session.commit
    return {
        "session": session.id,
        "agent": session.agent,
        "agent_version": session.agent_version,
        "repo": session.repo if session.repo is not None else session.cwd,
        "branch": session.branch,
        "start_commit": commit,
        "grade": None if state.grade is None else state.grade.value,
        "started_at": None if session.started_at is None else timestamp(session.started_at),
    }

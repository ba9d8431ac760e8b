"""What a filter of sessions means in SQL."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, Exists, exists, func, or_, select

from fairtrial.model.flag import FlagLevel
from fairtrial.model.session import Relation, SessionState
from fairtrial.query.expression import Compare, Operator
from fairtrial.query.vocabularies.sessions import SESSION_VOCABULARY
from fairtrial.store.filtering import Condition, Filterable, compared, pattern
from fairtrial.store.session_tables import session, session_body, session_flag

__all__ = ["SESSIONS", "SESSION_VOCABULARY"]


def _with_flag(*conditions: ColumnElement[bool]) -> Exists:
    """A session has a flag, also in a statement that is about flags itself."""
    own = session_flag.c.session_id == session.c.id
    return exists().where(own, *conditions).correlate(session)


_warned = _with_flag(session_flag.c.level == FlagLevel.WARN.value)
_noted = _with_flag()


def _body(column: ColumnElement[Any]) -> ColumnElement[Any]:
    own = session_body.c.session_id == session.c.id
    return select(column).where(own).correlate(session).scalar_subquery()


def _path(column: ColumnElement[Any]) -> Any:
    """A path is meant by its last part too."""

    def build(found: Compare) -> Condition:
        plain = compared(column, found.operator, found.value)
        if not isinstance(found.value, str) or "/" in found.value:
            return plain
        end = f"%/{pattern(found.value)[1:-1]}"
        if found.operator is Operator.EQUAL:
            return or_(plain, column.like(end, escape="\\"))
        if found.operator is Operator.NOT_EQUAL:
            return or_(column.is_(None), ~or_(column == found.value, column.like(end, escape="\\")))
        return plain

    return build


def _commit(found: Compare) -> Condition:
    """A commit is meant by the start of its hash; which of both is short is not known."""
    column = session.c.commit
    if not isinstance(found.value, str) or found.operator not in (
        Operator.EQUAL,
        Operator.NOT_EQUAL,
    ):
        return compared(column, found.operator, found.value)
    start = func.min(func.length(column), len(found.value))
    same = func.substr(column, 1, start) == func.substr(found.value.lower(), 1, start)
    return same if found.operator is Operator.EQUAL else or_(column.is_(None), ~same)


def _model(found: Compare) -> Condition:
    column = session.c.models
    if found.value is None:
        none = column == "[]"
        return none if found.operator is Operator.EQUAL else ~none
    text = str(found.value)
    if found.operator in (Operator.EQUAL, Operator.NOT_EQUAL):
        text = f'"{text}"'
    has = column.like(pattern(text), escape="\\")
    return has if found.operator in (Operator.EQUAL, Operator.CONTAINS) else ~has


def _flag(column: ColumnElement[Any]) -> Any:
    def build(found: Compare) -> Condition:
        if found.value is None:
            return ~_noted if found.operator is Operator.EQUAL else _noted
        negated = found.operator in (Operator.NOT_EQUAL, Operator.NOT_CONTAINS)
        contains = found.operator in (Operator.CONTAINS, Operator.NOT_CONTAINS)
        how = Operator.CONTAINS if contains else Operator.EQUAL
        has = _with_flag(compared(column, how, found.value))
        return ~has if negated else has

    return build


def _id(found: Compare) -> Condition:
    how = found.operator
    either = [compared(column, how, found.value) for column in (session.c.ref, session.c.native_id)]
    if how in (Operator.NOT_EQUAL, Operator.NOT_CONTAINS):
        return either[0] & either[1]
    return or_(*either)


def _contains(text: str) -> Condition:
    searched = _body(session_body.c.searched)
    return or_(
        searched.like(pattern(text.casefold()), escape="\\"),
        session.c.cwd.ilike(pattern(text), escape="\\"),
    )


SESSIONS: Final = Filterable(
    {
        "agent": session.c.agent,
        "version": session.c.agent_version,
        "state": session.c.state,
        "repo": _path(session.c.repo),
        "cwd": _path(session.c.cwd),
        "branch": session.c.branch,
        "commit": _commit,
        "model": _model,
        "flag": _flag(session_flag.c.name),
        "level": _flag(session_flag.c.level),
        "started": session.c.started_at,
        "ended": session.c.ended_at,
        "duration": (session.c.ended_at - session.c.started_at) / 1e6,
        "turns": session.c.turns,
        "calls": session.c.calls,
        "failures": session.c.failures,
        "denials": session.c.denials,
        "files": session.c.changed_files,
        "compactions": session.c.compactions,
        "tokens": session.c.tokens_total,
        "cost": session.c.cost_usd,
        "prompt": _body(session_body.c.first_prompt),
        "answer": _body(session_body.c.final_text),
        "parent": session.c.parent,
        "relation": session.c.relation,
        "id": _id,
    },
    {
        "flagged": _warned,
        "noted": _noted,
        "clean": ~_noted,
        "finished": session.c.state.in_(
            [SessionState.COMPLETED.value, SessionState.QUESTION.value]
        ),
        "subagent": session.c.relation.is_not_distinct_from(Relation.SUBAGENT.value),
        "fork": session.c.relation.is_not_distinct_from(Relation.FORK.value),
        "unread": _body(session_body.c.troubled).is_(True),
    },
    _contains,
)

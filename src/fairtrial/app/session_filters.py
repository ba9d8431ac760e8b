"""From what a user typed to a query of sessions."""

from __future__ import annotations

from datetime import datetime

from fairtrial.app.bench import Bench
from fairtrial.model.errors import UsageError
from fairtrial.ports.sessions import SessionQuery
from fairtrial.query.parsing import parse
from fairtrial.query.values import value_of
from fairtrial.query.vocabulary import Kind
from fairtrial.store.session_filter import SESSION_VOCABULARY


def session_query(
    bench: Bench,
    where: str | None,
    since: str | None = None,
    limit: int = 50,
    before: str | None = None,
) -> SessionQuery:
    """Return the query that options say.

    Raises:
        UsageError: the filter or the time is not understood.
    """
    now = bench.clock.now()
    expression = None if where is None else parse(where, SESSION_VOCABULARY, now)
    return SessionQuery(expression, _since(since, now), limit, before)


def _since(text: str | None, now: datetime) -> datetime | None:
    if text is None:
        return None
    try:
        found = value_of(text, Kind.INSTANT, now)
    except ValueError as error:
        raise UsageError(str(error), where="--since") from None
    if not isinstance(found, datetime):
        raise TypeError(found)
    return found

"""A call in a few words: what lists, lines and pages of calls share."""

from __future__ import annotations

from fairtrial.model.recorded_call import RecordedCall
from fairtrial.model.task import Tokens

_PREFIX = 16
"""Characters of a session's id that are shown: of a ULID and a UUID the time is in them."""
_LONG = 20
"""A session's name of more characters is an id."""


def outcome(call: RecordedCall) -> str:
    """Return how a call ended: its status, and what was amiss."""
    status = "no answer" if call.status is None else str(call.status)
    kept = " (recorded)" if call.served_from is not None else ""
    return status + kept + (f": {call.problem}" if call.problem else "")


def tokens_in_words(tokens: Tokens | None) -> str:
    """Return what was read and written, or a dash where neither is known."""
    if tokens is None or tokens.total is None:
        return "–"
    read = [tokens.input, tokens.cache_read, tokens.cache_write]
    known = [count for count in read if count is not None]
    came = f"{sum(known):,} in" if known else "? in"
    return f"{came}, {'?' if tokens.output is None else format(tokens.output, ',')} out"


def place(call: RecordedCall) -> str:
    """Return the name of a call that is easiest to type; a prefix names a long session."""
    if call.session is None:
        return call.id
    session = call.session
    return f"{session[:_PREFIX] if len(session) > _LONG else session}#{call.number}"


def subject(call: RecordedCall) -> str:
    """Return what a call asked for: a model, or another thing of the API."""
    return call.model or f"{call.method} {call.path.split('?', 1)[0]}"

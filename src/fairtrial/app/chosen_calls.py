"""Recorded calls as cases: what was asked is the input, what the model did is expected."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.model.call import Api, ModelReply
from fairtrial.model.case import Case
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.json import Json
from fairtrial.model.recorded_call import CallBody, CallQuery, RecordedCall
from fairtrial.wire.apis import read_reply, read_stream
from fairtrial.wire.failures import FailedAnswerError, MalformedAnswerError

_SENT_AGAIN: Final = ("anthropic-version", "anthropic-beta", "openai-beta")
"""Headers that change an answer."""
_CUT: Final = ("x-fairtrial-cut", "x-fairtrial-coded")
"""What marks a body that was not kept whole."""
_REDACTED: Final = b"[redacted"
_PAGE: Final = 200
_FIRST_ERROR: Final = 400


@dataclass(frozen=True, slots=True)
class ChosenCall:
    """A recorded call, ready to be made again.

    Attributes:
        call: The call.
        case: It as a case.
        notes: What is amiss with it.
    """

    call: RecordedCall
    case: Case
    notes: tuple[str, ...] = ()

    @property
    def api(self) -> Api:
        """The API that it asks."""
        return Api(str(self.call.api))


def chosen_calls(
    bench: Bench, refs: Sequence[str], session: str | None, limit: int
) -> tuple[ChosenCall, ...]:
    """Return the calls that a request names, each once.

    Args:
        bench: The workbench.
        refs: Calls by id, prefix or place in a session.
        session: A session whose last model calls are taken too.
        limit: How many of them.

    Raises:
        NotFoundError: there is no such call or session.
        UsageError: none is named, or one is no request for a model's answer.
    """
    found = [bench.store.calls.find(ref) for ref in refs]
    for call in found:
        if call.api is None:
            raise UsageError(
                f"{call.id} asks no model: {call.method} {call.path}",
                fix="name a call with a model; see: fairtrial calls list",
            )
    if session is not None:
        found += _of_session(bench, session, limit)
    once = {call.id: call for call in found}
    if not once:
        raise UsageError(
            "no call is named",
            fix="name one, e.g. latest#-1, or --session latest; see: fairtrial calls list",
        )
    return tuple(_chosen(bench, call) for call in once.values())


def _of_session(bench: Bench, session: str, limit: int) -> list[RecordedCall]:
    """Return the last model calls of a session, the oldest first."""
    last = bench.store.calls.find(f"{session}#-1")
    query = CallQuery(session=last.session, limit=_PAGE)
    found: list[RecordedCall] = []
    while True:
        page = bench.store.calls.newest(query)
        found += [call for call in page if call.api is not None]
        if len(found) >= limit or len(page) < _PAGE:
            break
        query = replace(query, before=page[-1].id)
    if not found:
        raise NotFoundError(
            f"session {last.session} has no call that asks a model",
            fix="see: fairtrial calls list",
        )
    return found[:limit][::-1]


def _chosen(bench: Bench, call: RecordedCall) -> ChosenCall:
    body = bench.store.calls.body(call.id)
    notes = []
    if _is_cut(body.request_headers):
        raise UsageError(
            f"{call.id} was too large to be kept whole, so it cannot be sent again",
            fix="leave it out",
        )
    if _REDACTED in body.request:
        notes.append(
            f"{call.id} was kept with a secret taken out: the model is sent [redacted] in its place"
        )
    turn, trouble = recorded_turn(call, body)
    if turn is None:
        notes.append(
            f"{call.id} got no answer to compare with ({trouble}): same_action is undecided"
        )
    given: dict[str, Json] = {
        "api": call.api,
        "body": _content(call, body.request),
        "headers": dict(_sent_again(body.request_headers)),
    }
    tokens = None if call.tokens is None else asdict(call.tokens)
    metadata: dict[str, Json] = {
        "session": call.session,
        "number": call.number,
        "model": call.model,
        "tokens": tokens,
    }
    return ChosenCall(call, Case(call.id, given, turn, metadata), tuple(notes))


def recorded_turn(call: RecordedCall, body: CallBody) -> tuple[Json, str | None]:
    """Return the turn that a recorded answer holds; None, and why, when it holds none."""
    if call.problem is not None or call.status is None:
        return None, call.problem or "none came"
    if call.status >= _FIRST_ERROR:
        return None, f"status {call.status}"
    if _is_cut(body.response_headers):
        return None, "it was not kept whole"
    try:
        reply = (read_stream if call.streamed else read_reply)(Api(str(call.api)), body.response)
    except (FailedAnswerError, MalformedAnswerError) as error:
        return None, str(error)
    return turn_of(reply), None


def turn_of(reply: ModelReply) -> Json:
    """Return a reply as a continuation task gives it."""
    return {
        "text": reply.text,
        "tool_uses": [asdict(use) for use in reply.tool_uses],
        "stop": reply.stop.value,
    }


def _content(call: RecordedCall, request: bytes) -> Json:
    try:
        content = json.loads(request)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise UsageError(f"the body of {call.id} is no JSON object", fix="leave it out")
    return content


def _sent_again(headers: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name, value in headers:
        if name.lower() in _SENT_AGAIN:
            yield name.lower(), value


def _is_cut(headers: Sequence[tuple[str, str]]) -> bool:
    return any(name.lower() in _CUT for name, _ in headers)

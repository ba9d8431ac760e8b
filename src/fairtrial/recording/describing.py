"""From what was seen of a call to the record of it. None of this is on the way of a byte."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from fairtrial.model.call import Api
from fairtrial.model.recorded_call import CallBody, CallOwner, RecordedCall
from fairtrial.model.task import Tokens
from fairtrial.ports import Prices
from fairtrial.recording.canonical import canonical_of_content
from fairtrial.recording.content_codings import decoded
from fairtrial.recording.exchange import (
    CANCELLED,
    DescribedRequest,
    Exchange,
    Headers,
    Payload,
    header,
)
from fairtrial.recording.identity import agent_of, session_of
from fairtrial.recording.stream_redaction import without_secrets
from fairtrial.redaction.secrets import Redactor, credentials_of
from fairtrial.wire.apis import api_of, read_stream, usage_of
from fairtrial.wire.failures import FailedAnswerError, MalformedAnswerError

CODED = "x-fairtrial-coded"
"""Added to stored headers when a body could not be decoded: the coding that is left on it."""
CUT = "x-fairtrial-cut"
"""Added to stored headers when a body was too large to be kept whole: its size in bytes."""
_EVENT_STREAM = b"text/event-stream"


class Describer:
    """Describes calls; holds what all descriptions need."""

    def __init__(
        self,
        new_id: Callable[[datetime], str],
        prices: Prices | None = None,
        redactor: Redactor | None = None,
    ) -> None:
        """Make one.

        Args:
            new_id: Makes an id from the moment that a call began.
            prices: What models cost; None leaves every cost unknown.
            redactor: What is taken out; None takes the usual rules.
        """
        self._new_id = new_id
        self._prices = prices
        self._redactor = redactor or Redactor()

    def request(self, exchange: Exchange) -> DescribedRequest:
        """Describe a request that is whole, or as much of it as came."""
        headers = exchange.headers
        credentials = credentials_of(headers)
        data, added = _content(exchange.request, headers)
        stored = self._redactor.body(data, credentials)
        api = api_of(exchange.target) if exchange.method == "POST" else None
        content = _object(stored)
        model = content.get("model") if content is not None else None
        return DescribedRequest(
            api=api,
            session=session_of(headers, content),
            agent=agent_of(headers),
            model=model if isinstance(model, str) else None,
            canonical=None
            if api is None or content is None
            else canonical_of_content(api, content),
            headers=self._redactor.headers(headers) + added,
            body=stored,
            credentials=credentials,
        )

    def call(self, exchange: Exchange, owner: CallOwner | None) -> tuple[RecordedCall, CallBody]:
        """Describe a call that is over, whose request was described and has its place.

        Args:
            exchange: What was seen of it.
            owner: The trial that made it.
        """
        request, place = exchange.described, exchange.place
        if request is None or place is None:
            raise ValueError("the request comes first")
        session, number = place
        body = self._body(exchange, request)
        streamed = _is_stream(exchange)
        tokens = None
        if request.api is not None and _answered(exchange.status):
            tokens = usage_of(request.api, body.response, streamed=streamed)
        ended = exchange.started if exchange.ended is None else exchange.ended
        first = exchange.first_byte
        call = RecordedCall(
            id=self._new_id(exchange.started_at),
            session=session,
            number=number,
            api=request.api,
            method=exchange.method,
            path=self._redactor.path(exchange.target),
            upstream=exchange.upstream,
            model=request.model,
            status=exchange.status,
            problem=_problem(exchange, request.api, body.response),
            streamed=streamed,
            started_at=exchange.started_at,
            first_byte_s=None if first is None else max(0.0, first - exchange.started),
            duration_s=max(0.0, ended - exchange.started),
            tokens=tokens,
            cost_usd=self._cost(request.model, tokens),
            canonical=request.canonical,
            served_from=None if exchange.served is None else exchange.served.call.id,
            owner=owner,
            agent=request.agent,
        )
        return call, body

    def _body(self, exchange: Exchange, request: DescribedRequest) -> CallBody:
        if exchange.served is not None:
            answer = exchange.served.body
            return CallBody(request.headers, request.body, answer.response_headers, answer.response)
        data, added = _content(exchange.response, exchange.response_headers)
        if _is_stream(exchange):
            stored = without_secrets(data, self._redactor, request.credentials)
        else:
            stored = self._redactor.body(data, request.credentials)
        headers = self._redactor.headers(exchange.response_headers) + added
        return CallBody(request.headers, request.body, headers, stored)

    def _cost(self, model: str | None, tokens: Tokens | None) -> float | None:
        if self._prices is None or model is None or tokens is None:
            return None
        return self._prices.cost_usd(model, tokens)


def _content(payload: Payload, headers: Headers) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    """Return a body without its coding, and the headers that say what is amiss with it."""
    coding = header(headers, b"content-encoding")
    data, left = decoded(payload.joined(), None if coding is None else coding.decode("latin-1"))
    added: tuple[tuple[str, str], ...] = ()
    if left is not None:
        added += ((CODED, left),)
    if payload.is_cut:
        added += ((CUT, str(payload.size)),)
    return data, added


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        content = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _problem(exchange: Exchange, api: Api | None, response: bytes) -> str | None:
    """Return why an answer is not whole.

    A client may leave once it has read the last event of a stream, before the end of the bytes.
    """
    if exchange.problem == CANCELLED and api is not None and _is_stream(exchange):
        try:
            read_stream(api, response)
        except (FailedAnswerError, MalformedAnswerError):
            return CANCELLED
        return None
    return exchange.problem


def _answered(status: int | None) -> bool:
    return status is not None and 200 <= status < 300


def _is_stream(exchange: Exchange) -> bool:
    if exchange.served is not None:
        return exchange.served.call.streamed
    return (header(exchange.response_headers, b"content-type") or b"").startswith(_EVENT_STREAM)

"""`/v1/traces` and `/v1/logs`: what programs tell by OpenTelemetry."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces

from fairtrial.app.receiving import Receiver
from fairtrial.http.otlp.reading import records_of, spans_of
from fairtrial.http.otlp.wire import (
    JSON,
    PROTOBUF,
    BodyError,
    check_count,
    decoded,
    encoded,
    encoding_of,
    refusal,
    status_answer,
    unpacked,
)
from fairtrial.model.errors import StoreError
from fairtrial.model.span import Span
from fairtrial.ports.spans import Received

_FULL: Final = "their session has as many spans as are kept of one"
_RETRY_S: Final = "5"


def otlp_routes(receiver: Receiver) -> APIRouter:
    """Return the routes."""
    router = APIRouter(tags=["opentelemetry"])

    def traced(received: Received) -> Message:
        answer = traces.ExportTraceServiceResponse()
        if received.refused:
            answer.partial_success.rejected_spans = received.refused
            answer.partial_success.error_message = _FULL
        return answer

    def logged(received: Received) -> Message:
        answer = logs.ExportLogsServiceResponse()
        if received.refused:
            answer.partial_success.rejected_log_records = received.refused
            answer.partial_success.error_message = _FULL
        return answer

    def take_traces(body: bytes, coding: str, encoding: str) -> Response:
        request = decoded(traces.ExportTraceServiceRequest, unpacked(body, coding), encoding)
        check_count(
            len(scope.spans) for group in request.resource_spans for scope in group.scope_spans
        )
        return _kept(receiver, spans_of(request), traced, encoding)

    def take_logs(body: bytes, coding: str, encoding: str) -> Response:
        request = decoded(logs.ExportLogsServiceRequest, unpacked(body, coding), encoding)
        check_count(
            len(scope.log_records) for group in request.resource_logs for scope in group.scope_logs
        )
        return _kept(receiver, records_of(request), logged, encoding)

    @router.post("/v1/traces", summary="Take spans (OTLP/HTTP)", openapi_extra=_BODY)
    async def post_traces(request: Request) -> Response:
        return await _answered(request, take_traces)

    @router.post("/v1/logs", summary="Take records of logs (OTLP/HTTP)", openapi_extra=_BODY)
    async def post_logs(request: Request) -> Response:
        return await _answered(request, take_logs)

    return router


_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {PROTOBUF: {"schema": {"type": "string"}}, JSON: {"schema": {"type": "object"}}},
    }
}


async def _answered(request: Request, take: Callable[[bytes, str, str], Response]) -> Response:
    encoding = JSON
    try:
        encoding = encoding_of(request.headers.get("content-type", ""))
        coding = request.headers.get("content-encoding", "")
        return await asyncio.to_thread(take, await request.body(), coding, encoding)
    except BodyError as error:
        return refusal(error, encoding)


def _kept(
    receiver: Receiver,
    spans: Iterable[Span],
    answer: Callable[[Received], Message],
    encoding: str,
) -> Response:
    try:
        return encoded(answer(receiver.take(list(spans))), encoding)
    except StoreError as error:
        # The one answer after which an exporter sends it all again.
        found = status_answer(HTTPStatus.SERVICE_UNAVAILABLE, str(error), encoding)
        found.headers["retry-after"] = _RETRY_S
        return found

"""From OTLP messages to spans and records."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from fairtrial.http.otlp.wire import whole_text
from fairtrial.model.json import Json
from fairtrial.model.span import Span, SpanEvent

_NANO: Final = 1e9
_DEEPEST: Final = 50
_LARGEST_WHOLE: Final = 2**53


def spans_of(request: ExportTraceServiceRequest) -> Iterator[Span]:
    """Yield the spans of a request."""
    for group in request.resource_spans:
        resource = attributes_of(group.resource.attributes)
        for scope in group.scope_spans:
            for span in scope.spans:
                yield _span(span, resource, scope.scope.name)


def records_of(request: ExportLogsServiceRequest) -> Iterator[Span]:
    """Yield the records of a request."""
    for group in request.resource_logs:
        resource = attributes_of(group.resource.attributes)
        for scope in group.scope_logs:
            for record in scope.log_records:
                yield Span(
                    name=whole_text(getattr(record, "event_name", "")),
                    trace=record.trace_id.hex(),
                    id=record.span_id.hex(),
                    log=True,
                    at=_seconds(record.time_unix_nano or record.observed_time_unix_nano),
                    attributes=attributes_of(record.attributes),
                    body=_value(record.body, _DEEPEST) if record.HasField("body") else None,
                    resource=resource,
                    scope=whole_text(scope.scope.name),
                )


def _span(span: OtlpSpan, resource: Mapping[str, Json], scope: str) -> Span:
    failed = span.status.code == Status.STATUS_CODE_ERROR
    return Span(
        name=whole_text(span.name),
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex() or None,
        at=_seconds(span.start_time_unix_nano),
        ended_at=_seconds(span.end_time_unix_nano),
        attributes=attributes_of(span.attributes),
        error=whole_text(span.status.message) if failed else None,
        events=tuple(
            SpanEvent(
                whole_text(event.name),
                _seconds(event.time_unix_nano),
                attributes_of(event.attributes),
            )
            for event in span.events
        ),
        resource=resource,
        scope=whole_text(scope),
    )


def attributes_of(pairs: Iterable[KeyValue]) -> dict[str, Json]:
    """Return attributes as a JSON object."""
    return {whole_text(pair.key): _value(pair.value, _DEEPEST) for pair in pairs}


def _value(value: AnyValue, depth: int) -> Json:
    kind = value.WhichOneof("value")
    if kind is None or depth == 0:
        return None
    if kind == "array_value":
        return [_value(item, depth - 1) for item in value.array_value.values]
    if kind == "kvlist_value":
        pairs = value.kvlist_value.values
        return {whole_text(pair.key): _value(pair.value, depth - 1) for pair in pairs}
    return _plain(getattr(value, kind))


def _plain(found: Any) -> Json:
    """Return a value that holds no others, as JSON can: without NaN, infinities and bytes."""
    match found:
        case bytes():
            return base64.b64encode(found).decode()
        case str():
            return whole_text(found)
        case float():
            return found if abs(found) < float("inf") else None
        case int() if abs(found) > _LARGEST_WHOLE:
            return str(found)
        case bool() | int():
            return found
    return None


def _seconds(nanoseconds: int) -> float | None:
    return nanoseconds / _NANO if nanoseconds else None

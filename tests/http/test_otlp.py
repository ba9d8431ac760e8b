"""Programs tell by OpenTelemetry, with the real exporters; sessions are in the store."""

from __future__ import annotations

import gzip
import json
import random
import socket
from contextlib import closing
from typing import Any

import pytest
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from tests.http import telling
from tests.http.conftest import Server, running

from fairtrial.app.bench import Bench
from fairtrial.app.reports.sessions import session_json
from fairtrial.app.requests.sessions_rm import Request as RemoveRequest
from fairtrial.app.sessions_rm import sessions_rm
from fairtrial.interchange.session_exports.jsonl import event_facts
from fairtrial.model.session import Prompt
from fairtrial.ports.sessions import SessionQuery

PROTOBUF = "application/x-protobuf"
JSON = "application/json"


def told(server: Server, name: str) -> dict[str, Any]:
    """Return a session and its events, once the server has told all that it got."""
    server.stop()
    store = server.bench.store.sessions
    found = store.find(name)
    events = [event_facts(event) for event in store.events(found.session.id)]
    return {"session": session_json(found), "events": events}


def count(server: Server) -> int:
    return len(server.bench.store.sessions.newest(SessionQuery()))


def post(server: Server, body: bytes, kind: str, coding: str | None = None) -> Any:
    headers = {"Content-Type": kind} | ({} if coding is None else {"Content-Encoding": coding})
    return server.ask("/v1/traces", "POST", body, headers)


def test_a_program_becomes_a_flagged_session_without_secrets(server: Server) -> None:
    assert telling.send(server.url, telling.recorded(telling.program)) == [True]
    found = told(server, "conv-1")
    session, events = found["session"], found["events"]
    assert (session["agent"], session["agent_version"]) == ("shop-bot", "2.1")
    assert session["first_prompt"] == "Fix it, with [redacted:anthropic-key]."
    assert session["final_text"] == "All tests pass now."
    assert session["state"] == "completed"
    assert session["models"] == ["claude-sonnet-5-5"]
    assert session["tokens"]["input"] == 100 + 150 - 2 * 20
    assert (session["tokens"]["output"], session["tokens"]["cache_read"]) == (20, 40)
    assert session["cost_usd"] > 0
    assert session["counts"]["failures"] == 1
    assert {flag["name"] for flag in session["flags"]} >= {"premature-completion"}
    assert session["unread"]["unknown_records"] == {"GET /index": 1}
    kinds = [event["kind"] for event in events]
    expected = ["prompt", "usage", "thought", "call", "result", "usage", "said", "turn_end"]
    assert kinds == expected
    call, result = events[3], events[4]
    assert (call["operation"], call["command"]) == ("shell", "pytest -q")
    assert (result["status"], result["exit_code"], result["text"]) == ("fail", 1, "1 failed")
    for path in server.bench.home.rglob("*"):
        assert path.is_dir() or telling.SECRET.encode() not in path.read_bytes()


def test_names_of_programs_and_of_conversations_hold_no_secrets(server: Server) -> None:
    named = {"service.name": f"bot {telling.SECRET}", "gen_ai.conversation.id": telling.SECRET}
    attributes = telling.CHAT | telling.exchange([telling.ASKED], [telling.DONE]) | named
    span = {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "eee19b7ec3c1b174",
        "startTimeUnixNano": "1780000000000000000",
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in attributes.items()],
    }
    resource = {"attributes": span["attributes"]}
    body = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]}
    assert post(server, json.dumps(body).encode(), JSON).status == 200
    session = told(server, "latest")["session"]
    assert session["agent"] == "bot [redacted:anthropic-key]"
    for path in server.bench.home.rglob("*"):
        assert path.is_dir() or telling.SECRET.encode() not in path.read_bytes()


def test_batches_out_of_order_and_sent_again_make_the_same_session(bench: Bench) -> None:
    spans = list(telling.recorded(telling.program))
    with running(bench) as server:
        telling.send(server.url, spans)
        once = told(server, "conv-1")
        server.bench.store.sessions.remove([once["session"]["id"]])
        server.bench.store.sessions.allow_removed()
    shuffled = [[span] for span in spans] * 2
    random.Random(7).shuffle(shuffled)  # noqa: S311
    with running(bench) as server:
        assert all(telling.send(server.url, *shuffled))
        assert told(server, "conv-1") == once
        assert count(server) == 1


def test_a_trace_that_is_named_late_moves_to_its_session(bench: Bench) -> None:
    spans = list(telling.recorded(telling.program))
    named = [span for span in spans if "gen_ai.conversation.id" in (span.attributes or {})]
    others = [span for span in spans if span not in named]
    with running(bench) as server:
        telling.send(server.url, others)
        server.stop()
        context = spans[0].context
        assert context is not None
        provisional = server.bench.store.sessions.find(f"{context.trace_id:032x}")
        assert provisional.session.agent == "shop-bot"
    with running(bench) as server:
        telling.send(server.url, named)
        assert told(server, "conv-1")["session"]["counts"]["calls"] == 1
        assert count(server) == 1


def test_a_trace_without_a_name_is_a_session(server: Server) -> None:
    telling.send(server.url, telling.recorded(lambda tracer: telling.program(tracer, None)))
    server.stop()
    assert count(server) == 1


def test_the_traces_of_a_conversation_are_one_session(server: Server) -> None:
    def turn(tracer: Any, told: list[Any], answered: str) -> None:
        done = {"role": "assistant", "parts": [{"type": "text", "content": answered}]}
        attributes = {**telling.CHAT, "gen_ai.conversation.id": "talk"}
        attributes |= telling.exchange(told, [done])
        with tracer.start_as_current_span("chat", attributes=attributes):
            pass

    ask = {"role": "user", "content": "Go on"}
    said = {"role": "assistant", "content": "One"}
    telling.send(server.url, telling.recorded(lambda tracer: turn(tracer, [ask], "One")))
    telling.send(server.url, telling.recorded(lambda tracer: turn(tracer, [ask, said, ask], "Two")))
    events = told(server, "talk")["events"]
    assert [event["text"] for event in events] == ["Go on", "One", "Go on", "Two"]


def test_a_session_that_was_removed_does_not_come_back(bench: Bench) -> None:
    spans = telling.recorded(telling.program)
    with running(bench) as server:
        telling.send(server.url, spans[:2])
        server.stop()
        sessions_rm(server.bench, RemoveRequest(("latest",), yes=True))
    with running(bench) as server:
        assert telling.send(server.url, spans) == [True]
        server.stop()
        assert count(server) == 0
        for path in server.bench.home.rglob("*.db*"):
            assert b"All tests pass now" not in path.read_bytes()


def test_what_died_before_it_was_told_is_told_by_the_next_server(bench: Bench) -> None:
    with running(bench) as server:
        server.bench.control.drain("no time")
        server.stop()
    from fairtrial.app.receiving import Receiver  # noqa: PLC0415
    from fairtrial.http.otlp.reading import spans_of  # noqa: PLC0415
    from fairtrial.http.otlp.wire import decoded  # noqa: PLC0415

    request = decoded(ExportTraceServiceRequest, json.dumps(SPAN).encode(), JSON)
    Receiver(bench).take(list(spans_of(request)))
    with running(bench) as server:
        assert told(server, "by hand")["session"]["first_prompt"] == "Hello"


def test_a_model_that_failed_is_told(server: Server) -> None:
    telling.send(server.url, telling.recorded(telling.failing))
    (trouble,) = told(server, "trouble")["events"]
    assert (trouble["kind"], trouble["status"], trouble["final"]) == ("api_trouble", 529, False)
    assert trouble["text"] == "overloaded"


def test_spans_of_no_model_are_no_session(server: Server) -> None:
    def web(tracer: Any) -> None:
        with tracer.start_as_current_span("GET /", attributes={"session.id": "cookie"}):
            pass

    assert telling.send(server.url, telling.recorded(web)) == [True]
    server.stop()
    assert count(server) == 0


SPAN: dict[str, Any] = {
    "resourceSpans": [
        {
            "resource": {
                "attributes": [{"key": "service.name", "value": {"stringValue": "handmade"}}]
            },
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "5B8EFFF798038103D269B633813FC60C",
                            "spanId": "EEE19B7EC3C1B174",
                            "name": "chat",
                            "kind": 3,
                            "startTimeUnixNano": "1795955331000000000",
                            "endTimeUnixNano": "1795955332000000000",
                            "attributes": [
                                {
                                    "key": "gen_ai.operation.name",
                                    "value": {"stringValue": "chat"},
                                },
                                {
                                    "key": "gen_ai.conversation.id",
                                    "value": {"stringValue": "by hand"},
                                },
                                {
                                    "key": "gen_ai.input.messages",
                                    "value": {"stringValue": '[{"role":"user","content":"Hello"}]'},
                                },
                            ],
                            "field_of_the_future": {"a": 1},
                        }
                    ]
                }
            ],
        }
    ]
}


def test_json_is_taken_and_answered_in_json(server: Server) -> None:
    answer = post(server, json.dumps(SPAN).encode(), f"{JSON}; charset=utf-8")
    assert (answer.status, answer.headers["content-type"], answer.json) == (200, JSON, {})
    session = told(server, "by hand")["session"]
    assert session["first_prompt"] == "Hello"
    assert session["started_at"] == "2026-11-29T12:28:51Z"


def test_protobuf_is_answered_in_protobuf(server: Server) -> None:
    answer = post(server, b"", PROTOBUF)
    assert (answer.status, answer.headers["content-type"]) == (200, PROTOBUF)
    ExportTraceServiceResponse.FromString(answer.body)


def test_texts_that_a_program_cut_in_the_middle_of_a_letter_are_taken(server: Server) -> None:
    cut = json.dumps(SPAN).replace("Hello", "Hello \\\\ud83d").replace("handmade", "hand\\ud83d")
    answer = post(server, cut.encode(), JSON)
    assert (answer.status, answer.json) == (200, {})
    assert told(server, "by hand")["session"]["first_prompt"].startswith("Hello")


DEEP = b'{"resourceSpans":' * 5_000 + b"1" + b"}" * 5_000
BOMB = gzip.compress(bytes(70 * 1024 * 1024))
EMPTY_JSON = gzip.compress(b'{"resourceSpans":[' + b"{}," * 410_000 + b"{}]}")
EMPTY_PROTOBUF = gzip.compress(b"\x0a\x00" * 410_000)
# So many spans without anything, in one scope of one resource.
SPANS = b"\x12\x00" * 51_000
SCOPE = b"\x12\xf0\x9c\x06" + SPANS


@pytest.mark.parametrize(
    ("body", "kind", "coding", "status"),
    [
        (b"\xff\xfe garbage", PROTOBUF, None, 400),
        (b"not json", JSON, None, 400),
        (b"[]", JSON, None, 400),
        (b'{"resourceSpans": 3}', JSON, None, 400),
        (
            b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "xyz"}]}]}]}',
            JSON,
            None,
            400,
        ),
        (b"\xff\xff", JSON, None, 400),
        (DEEP, JSON, None, 400),
        (gzip.compress(b"{}" * 99)[:-9], JSON, "gzip", 400),
        (b"no gzip", JSON, "gzip", 400),
        (BOMB, PROTOBUF, "gzip", 413),
        (EMPTY_JSON, JSON, "gzip", 413),
        (EMPTY_PROTOBUF, PROTOBUF, "gzip", 413),
        (b"\x0a\xf4\x9c\x06" + SCOPE, PROTOBUF, None, 413),
        (b"{}", JSON, "br", 415),
        (b"{}", "application/xml", None, 415),
        (b"{}", "", None, 415),
    ],
    ids=range(16),
)
def test_what_is_no_telemetry_gets_a_status(
    server: Server, body: bytes, kind: str, coding: str | None, status: int
) -> None:
    answer = post(server, body, kind, coding)
    assert answer.status == status
    if kind == PROTOBUF:
        assert answer.headers["content-type"] == PROTOBUF
        assert Status.FromString(answer.body).message
    else:
        assert answer.headers["content-type"] == JSON
        assert answer.json["message"]
    assert server.ask("/v2/health").status == 200


def test_a_body_without_a_length_is_read_up_to_the_limit(server: Server) -> None:
    host, _, port = server.address.partition(":")
    chunk = b"100000\r\n" + bytes(1024 * 1024) + b"\r\n"
    with closing(socket.create_connection((host, int(port)), timeout=20)) as raw:
        raw.sendall(
            b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/x-protobuf\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for _ in range(17):
            raw.sendall(chunk)
        assert raw.recv(64).startswith(b"HTTP/1.1 413")


def test_what_is_too_much_for_a_session_is_told(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairtrial.store.spans._MOST_PARTS", 3)
    spans = telling.recorded(telling.program)
    telling.send(server.url, spans)
    body = json.dumps(SPAN).replace("by hand", "conv-1").encode()
    answer = post(server, body, JSON)
    assert answer.status == 200
    assert answer.json["partialSuccess"]["rejectedSpans"] == "1"
    assert "session" in answer.json["partialSuccess"]["errorMessage"]


def test_other_methods_and_a_server_that_takes_nothing(bench: Bench) -> None:
    with running(bench, receive=False) as server:
        assert post(server, b"{}", JSON).status == 404
    with running(bench) as server:
        assert server.ask("/v1/traces").status == 405


def test_from_another_machine_a_key_that_may_write_is_needed(bench: Bench) -> None:
    spans = telling.recorded(telling.program)
    with running(bench, host="0.0.0.0") as server:  # noqa: S104
        writes = server.key("agent", "write")
        assert telling.send(server.url, spans, headers={"authorization": f"Bearer {writes}"}) == [
            True
        ]
        reads = server.key("viewer")
        body = json.dumps(SPAN).encode()
        for headers, status in (({}, 401), ({"Authorization": f"Bearer {reads}"}, 403)):
            sent = {"Content-Type": JSON, **headers}
            assert server.ask("/v1/traces", "POST", body, sent).status == status


def test_the_first_prompt_is_found_as_that_of_a_transcript(server: Server) -> None:
    telling.send(server.url, telling.recorded(telling.program))
    server.stop()
    store = server.bench.store.sessions
    found = store.find("conv-1").session
    prompts = [event for event in store.events(found.id) if isinstance(event, Prompt)]
    assert found.first_prompt == prompts[0].text


def test_a_session_whose_spans_moved_meanwhile_is_gone_at_once_and_not_told(bench: Bench) -> None:
    from fairtrial.app.receiving import Receiver  # noqa: PLC0415
    from fairtrial.model.span import Span  # noqa: PLC0415
    from fairtrial.sessions.spans.reader import files_of  # noqa: PLC0415

    trace, chat = "a" * 32, {"gen_ai.operation.name": "chat"}
    receiver = Receiver(bench)
    receiver.take([Span("chat", trace, "b" * 16, at=1.0, attributes=chat)])
    (untold,) = bench.store.spans.untold()
    assert len(receiver.tell()) == 1
    named = {**chat, "gen_ai.conversation.id": "talk"}
    receiver.take([Span("chat", trace, "c" * 16, at=2.0, attributes=named)])
    assert bench.store.sessions.newest(SessionQuery()) == []
    (file,) = files_of(bench.store.spans, [untold])
    with pytest.raises(FileNotFoundError):
        list(file.reader.source(file.found.path).lines(0))
    receiver.tell()
    (found,) = bench.store.sessions.newest(SessionQuery())
    assert found.session.native_id == "talk"
    assert found.session.unread.records == 2

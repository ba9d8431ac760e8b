"""The proxy byte by byte: what passes, what is refused, what is recorded of each end."""

from __future__ import annotations

import gzip
import socket
import threading
import zlib

import brotli
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.recording.conftest import Start, running
from tests.recording.raw_upstream import RawUpstream

HEAD = b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
CLOSE = b"Connection: close\r\n"


def post(body: bytes = b"{}", *fields: bytes, path: bytes = b"/v1/messages") -> bytes:
    lines = [
        b"POST " + path + b" HTTP/1.1",
        b"Host: 127.0.0.1",
        b"Content-Length: %d" % len(body),
        b"Connection: close",
        *fields,
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def test_an_answer_comes_back_as_it_was_and_is_recorded(start: Start) -> None:
    answer = b'HTTP/1.1 200 Fine\r\nX-Odd:  spaced\r\nContent-Length: 8\r\n\r\n{"a": 1}'
    with RawUpstream([answer]) as upstream:
        proxy = start(upstream.url)
        assert proxy.send(post(b'{"model": "m"}', path=b"/v1/messages?beta=true")) == answer
        call, body = proxy.one()
    assert upstream.received[0].startswith(
        b"POST /v1/messages?beta=true HTTP/1.1\r\nHost: 127.0.0.1:"
    )
    assert (call.status, call.problem, call.model) == (200, None, "m")
    assert (call.method, call.path, call.api) == (
        "POST",
        "/v1/messages?beta=true",
        "anthropic-messages",
    )
    assert call.upstream == upstream.url
    assert (call.session, call.number) == ("proxy_run", 1)
    assert call.first_byte_s is not None
    assert 0 <= call.first_byte_s <= call.duration_s
    assert body.request == b'{"model": "m"}'
    assert body.response == b'{"a": 1}'
    assert ("X-Odd", "spaced") in body.response_headers


def test_what_belongs_to_a_connection_is_not_forwarded(start: Start) -> None:
    with RawUpstream([OK]) as upstream:
        start(upstream.url).send(
            post(
                b"{}",
                b"X-Secret-Hop: 1",
                b"Connection: X-Secret-Hop",
                b"Keep-Alive: timeout=5",
                b"X-Fairtrial-Session: s1",
                b"Anthropic-Beta: a,b",
            )
        )
    head = upstream.received[0].lower()
    assert b"anthropic-beta: a,b" in head
    for gone in (b"x-secret-hop", b"keep-alive", b"x-fairtrial-session", b"connection: close"):
        assert gone not in head


def test_a_connection_is_kept_and_so_is_its_upstream(start: Start) -> None:
    one = HEAD + b"Content-Length: 2\r\n\r\n{}"
    with RawUpstream([OK], [OK], [OK], [OK]) as upstream:
        proxy = start(upstream.url)
        with socket.create_connection(("127.0.0.1", proxy.proxy.port), 10) as connection:
            for _ in range(2):
                connection.sendall(one)
                assert connection.recv(65536) == OK
            connection.sendall(one + one)  # the second waits for its turn
            received = b""
            while len(received) < 2 * len(OK):
                received += connection.recv(65536)
            assert received == OK + OK
        proxy.recorded(4)
    assert len(upstream.received) == 4
    assert [call.number for call, _ in proxy.calls.kept] == [1, 2, 3, 4]


def test_requests_in_chunks_are_forwarded_in_chunks(start: Start) -> None:
    chunked = (
        HEAD + CLOSE + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=1\r\ndefg\r\n0\r\n\r\n"
    )
    with RawUpstream([OK]) as upstream:
        proxy = start(upstream.url)
        assert proxy.send(chunked) == OK
        _, body = proxy.one()
    assert upstream.received[0].endswith(b"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n")
    assert body.request == b"abcdefg"


def test_a_client_that_waits_for_100_continue_gets_it(start: Start) -> None:
    with RawUpstream([OK]) as upstream:
        proxy = start(upstream.url)
        with socket.create_connection(("127.0.0.1", proxy.proxy.port), 10) as connection:
            connection.sendall(HEAD + b"Content-Length: 4\r\nExpect: 100-continue\r\n\r\n")
            assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(b"body")
            assert connection.recv(65536) == OK
        call, body = proxy.one()
    assert (call.status, body.request) == (200, b"body")


def test_head_and_get_pass(start: Start) -> None:
    bare = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"
    with RawUpstream([bare], [OK]) as upstream:
        proxy = start(upstream.url)
        fields = b"\r\nHost: localhost\r\nanthropic-version: 2023-06-01\r\n"
        with socket.create_connection(("127.0.0.1", proxy.proxy.port), 10) as connection:
            connection.sendall(b"HEAD /v1/models HTTP/1.1" + fields + b"\r\n")
            assert connection.recv(65536) == bare
            connection.sendall(b"GET /v1/models?limit=2 HTTP/1.1" + fields + b"\r\n")
            assert connection.recv(65536) == OK
        kept = proxy.recorded(2)
    assert [(call.method, call.api, call.canonical) for call, _ in kept] == [
        ("HEAD", None, None),
        ("GET", None, None),
    ]


@pytest.mark.parametrize(
    ("status", "fields"),
    [(429, b"Retry-After: 7\r\n"), (529, b""), (400, b""), (500, b""), (401, b"")],
)
def test_errors_of_the_upstream_pass_untouched(start: Start, status: int, fields: bytes) -> None:
    answer = b"HTTP/1.1 %d Nope\r\n%bContent-Length: 3\r\n\r\nno!" % (status, fields)
    with RawUpstream([answer]) as upstream:
        proxy = start(upstream.url)
        assert proxy.send(post()) == answer
        call, body = proxy.one()
    assert (call.status, call.problem, body.response) == (status, None, b"no!")


@pytest.mark.parametrize(
    ("coding", "code"),
    [
        (b"gzip", gzip.compress),
        (b"deflate", zlib.compress),
        (b"br", brotli.compress),
        (b"zstd", zstandard.compress),
    ],
)
def test_codings_pass_and_are_decoded_for_the_record(
    start: Start, coding: bytes, code: object
) -> None:
    assert callable(code)
    packed = code(b'{"words": "many"}')
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: %b\r\nContent-Length: %d\r\n\r\n%b" % (
        coding,
        len(packed),
        packed,
    )
    with RawUpstream([answer]) as upstream:
        proxy = start(upstream.url)
        request = code(b'{"model": "packed"}')
        assert proxy.send(post(request, b"Content-Encoding: " + coding)) == answer
        call, body = proxy.one()
    assert upstream.received[0].endswith(request)
    assert call.model == "packed"
    assert body.request == b'{"model": "packed"}'
    assert body.response == b'{"words": "many"}'


def test_a_coding_that_cannot_be_read_is_kept_as_it_came(start: Start) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope"
    with RawUpstream([answer]) as upstream:
        proxy = start(upstream.url)
        assert proxy.send(post()) == answer
        _, body = proxy.one()
    assert body.response == b"nope"
    assert ("x-fairtrial-coded", "gzip") in body.response_headers


def test_an_answer_that_ends_with_its_connection_is_whole(start: Start) -> None:
    with RawUpstream([b"HTTP/1.1 200 OK\r\n\r\nall ", b"of it", None]) as upstream:
        proxy = start(upstream.url)
        assert proxy.send(post()) == b"HTTP/1.1 200 OK\r\n\r\nall of it"
        call, body = proxy.one()
    assert (call.problem, body.response) == (None, b"all of it")


def test_a_cut_answer_is_cut_for_the_client_too(start: Start) -> None:
    cut = STREAM + b"5\r\ndata:"
    with RawUpstream([cut, None]) as upstream:
        proxy = start(upstream.url)
        assert proxy.send(post()) == cut
        call, body = proxy.one()
    assert call.status == 200
    assert call.problem is not None
    assert call.problem.startswith("cut: ")
    assert (call.streamed, body.response) == (True, b"data:")


def test_an_upstream_that_hangs_up_without_a_word_is_a_bad_gateway(start: Start) -> None:
    with RawUpstream([None]) as upstream:
        proxy = start(upstream.url)
        assert proxy.send(post()).startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
        call, _ = proxy.one()
    assert call.status is None
    assert call.problem is not None
    assert "without an answer" in call.problem


def test_an_upstream_that_is_not_there_is_a_bad_gateway(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    proxy = start(f"http://127.0.0.1:{port}")
    answer = proxy.send(post(b"x" * 500_000))
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert b"connection refused" in answer
    call, _ = proxy.one()
    assert call.problem == f"connection refused: http://127.0.0.1:{port}"


def test_an_upstream_without_an_address_is_a_bad_gateway(start: Start) -> None:
    proxy = start("http://no-such-host.invalid")
    assert b"no such host" in proxy.send(post())
    call, _ = proxy.one()
    assert call.problem == "no such host: http://no-such-host.invalid"


def test_an_upstream_that_is_not_http_is_told(start: Start) -> None:
    with RawUpstream([b"SSH-2.0-OpenSSH_9.2\r\n", None]) as upstream:
        proxy = start(upstream.url)
        proxy.send(post())
        call, _ = proxy.one()
    assert call.problem is not None
    assert "not HTTP" in call.problem


def test_tls_that_fails_is_told(start: Start) -> None:
    with RawUpstream() as upstream:  # it hangs up at once
        proxy = start(upstream.url.replace("http:", "https:"))
        assert b"fairtrial proxy: " in proxy.send(post())
        call, _ = proxy.one()
    assert call.status is None


def test_a_client_that_leaves_cancels_the_upstream_and_the_call_is_kept(start: Start) -> None:
    begun = STREAM + b"5\r\nfirst\r\n"
    with RawUpstream([begun, RawUpstream.HANG]) as upstream:
        proxy = start(upstream.url)
        with socket.create_connection(("127.0.0.1", proxy.proxy.port), 10) as connection:
            connection.sendall(post())
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 OK")
        call, body = proxy.one()
        assert upstream.left.wait(10)
    assert (call.status, call.problem) == (200, "cancelled by the client")
    assert body.response == b"first"


def test_a_client_that_leaves_after_the_last_event_cancelled_nothing(start: Start) -> None:
    events = b"".join(
        b"event: %b\ndata: %b\n\n" % pair
        for pair in (
            (b"message_start", b'{"type":"message_start","message":{"model":"m","usage":{}}}'),
            (b"message_delta", b'{"type":"message_delta","delta":{"stop_reason":"end_turn"}}'),
            (b"message_stop", b'{"type":"message_stop"}'),
        )
    )
    answer = STREAM + b"%x\r\n%b\r\n" % (len(events), events)
    with RawUpstream([answer, RawUpstream.HANG]) as upstream:
        proxy = start(upstream.url)
        with socket.create_connection(("127.0.0.1", proxy.proxy.port), 10) as connection:
            connection.sendall(post())
            received = b""
            while not received.endswith(b"}\n\n\r\n"):
                received += connection.recv(65536)
        call, _ = proxy.one()
    assert (call.status, call.problem) == (200, None)


def test_a_client_that_leaves_before_its_request_is_whole_is_kept_too(start: Start) -> None:
    with RawUpstream([OK]) as upstream:
        proxy = start(upstream.url)
        with socket.create_connection(("127.0.0.1", proxy.proxy.port), 10) as connection:
            connection.sendall(HEAD + b"Content-Length: 100\r\n\r\nhalf")
        call, body = proxy.one()
    assert (call.status, call.problem) == (None, "cancelled by the client")
    assert body.request == b"half"


def test_a_large_upload_passes_whole(start: Start) -> None:
    body = bytes(range(256)) * 131_072  # 32 MiB
    with RawUpstream([OK]) as upstream:
        proxy = start(upstream.url)
        assert proxy.send(post(body)) == OK
        _, kept = proxy.one()
    assert upstream.received[0].endswith(body)
    assert kept.request == body


@pytest.mark.parametrize(
    "request_bytes",
    [
        HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
        HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        HEAD + b"Content-Length : 2\r\n\r\n{}",
        HEAD + b"Content-Length: +2\r\n\r\n{}",
        HEAD + b"X: 1\r\n folded: 2\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n",
        HEAD.replace(b"\r\n", b"\n") + b"\n",
        b"GET /v1/models HTTP/1.1\r\n\r\n",
        HEAD + b"Host: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
    ],
)
def test_a_request_that_can_be_read_in_two_ways_is_refused(
    start: Start, request_bytes: bytes
) -> None:
    with RawUpstream() as upstream:
        proxy = start(upstream.url)
        assert proxy.send(request_bytes).startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert upstream.received == []


def test_headers_without_an_end_are_refused(start: Start) -> None:
    with RawUpstream() as upstream:
        proxy = start(upstream.url)
        assert proxy.send(HEAD + b"X: " + b"x" * 70_000).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", ""]
)
def test_a_name_that_is_not_this_machine_s_is_refused(start: Start, host: str) -> None:
    with RawUpstream() as upstream:
        proxy = start(upstream.url)
        answer = proxy.send(b"GET /v1/models HTTP/1.1\r\nHost: " + host.encode() + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")


@pytest.mark.parametrize(
    "host", ["localhost:80", "LOCALHOST", "127.8.9.1", "[::1]:5", "localhost."]
)
def test_every_name_of_this_machine_passes(start: Start, host: str) -> None:
    with RawUpstream([OK]) as upstream:
        proxy = start(upstream.url)
        request = post().replace(b"Host: 127.0.0.1", b"Host: " + host.encode())
        assert proxy.send(request) == OK


def test_a_page_of_another_site_is_refused(start: Start) -> None:
    with RawUpstream([OK]) as upstream:
        proxy = start(upstream.url)
        assert proxy.send(post(b"{}", b"Origin: https://evil.example")).startswith(b"HTTP/1.1 403 ")
        assert proxy.send(post(b"{}", b"Origin: http://localhost:3000")) == OK


def test_a_websocket_is_answered_at_once(start: Start) -> None:
    with RawUpstream() as upstream:
        proxy = start(upstream.url)
        answer = proxy.send(
            b"GET /v1/responses HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\n"
            b"Upgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n"
        )
    assert answer.startswith(b"HTTP/1.1 426 Upgrade Required\r\n")
    assert upstream.received == []


def test_another_upgrade_is_ignored(start: Start) -> None:
    with RawUpstream([OK]) as upstream:
        proxy = start(upstream.url)
        request = HEAD + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        with socket.create_connection(("127.0.0.1", proxy.proxy.port), 10) as connection:
            connection.sendall(request + b"Content-Length: 2\r\n\r\n{")
            connection.sendall(b"}")
            assert connection.recv(65536) == OK
    assert b"h2c" not in upstream.received[0]


@pytest.mark.parametrize(
    "path", [b"/", b"/v1", b"/v1/nope", b"/api/hello", b"http://x/v1/messages"]
)
def test_an_unknown_path_is_told_what_is_served(start: Start, path: bytes) -> None:
    with RawUpstream() as upstream:
        proxy = start(upstream.url)
        answer = proxy.send(b"GET " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 404 Not Found\r\n")
    assert b"/v1/messages" in answer
    assert proxy.refused[0][1].status == 404


def test_it_is_no_forward_proxy(start: Start) -> None:
    with RawUpstream() as upstream:
        proxy = start(upstream.url)
        answer = proxy.send(
            b"CONNECT api.anthropic.com:443 HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n"
        )
    assert answer.startswith(b"HTTP/1.1 405 ")


def test_an_answer_before_the_request_is_whole_comes_through(start: Start) -> None:
    early = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = start(f"http://127.0.0.1:{listener.getsockname()[1]}")
        with socket.create_connection(("127.0.0.1", proxy.proxy.port), 10) as connection:
            connection.sendall(HEAD + b"Content-Length: 9000000\r\n\r\nbegun")
            upstream, _ = listener.accept()
            with upstream:
                while not upstream.recv(65536).endswith(b"begun"):
                    pass
                upstream.sendall(early)  # and it reads no further
                assert connection.recv(65536) == early
                connection.sendall(b"x" * (9_000_000 - 5))
                assert connection.recv(65536) == b""
        call, _ = proxy.one()
    assert (call.status, call.problem) == (413, None)


def test_a_slow_reader_holds_the_upstream_back_and_not_the_memory(start: Start) -> None:
    size = 30_000_000
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"y" * size
    with RawUpstream([answer]) as upstream:
        proxy = start(upstream.url)
        with socket.create_connection(("127.0.0.1", proxy.proxy.port), 10) as connection:
            connection.sendall(post())
            received = len(connection.recv(1000))
            waiting = threading.Event()
            for _ in range(10):
                waiting.wait(0.02)
                (client,) = proxy.clients()
                assert client._transport.get_write_buffer_size() < 2_000_000
            while part := connection.recv(1 << 20):
                received += len(part)
        call, body = proxy.one()
    assert received == len(answer)
    assert (call.problem, len(body.response)) == (None, size)


def test_http_1_0_is_spoken_as_it_came(start: Start) -> None:
    answer = b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold"
    with RawUpstream([answer, None]) as upstream:
        proxy = start(upstream.url)
        request = b"POST /v1/messages HTTP/1.0\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
        assert proxy.send(request) == answer
        call, _ = proxy.one()
    assert upstream.received[0].startswith(b"POST /v1/messages HTTP/1.0\r\n")
    assert call.problem is None


def test_of_an_endless_body_the_beginning_is_kept(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairtrial.recording.exchange.LARGEST_KEPT", 10)
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n" + b"0123456789" * 2
    with RawUpstream([answer]) as upstream:
        proxy = start(upstream.url)
        assert proxy.send(post(b"abcdefghijklmno")) == answer
        _, body = proxy.one()
    assert upstream.received[0].endswith(b"abcdefghijklmno")
    assert (body.request, body.response) == (b"abcdefghij", b"0123456789")
    assert ("x-fairtrial-cut", "15") in body.request_headers
    assert ("x-fairtrial-cut", "20") in body.response_headers


def test_a_path_of_an_upstream_is_kept(start: Start) -> None:
    with RawUpstream([OK], [OK]) as upstream:
        proxy = start(f"{upstream.url}/gateway")
        proxy.send(post())
        proxy.send(post(path=b"/v1/responses?x=1"))
        kept = proxy.recorded(2)
    assert upstream.received[0].startswith(b"POST /gateway/v1/messages HTTP/1.1\r\n")
    assert upstream.received[1].startswith(b"POST /gateway/v1/responses?x=1 HTTP/1.1\r\n")
    assert [call.path for call, _ in kept] == ["/v1/messages", "/v1/responses?x=1"]


pieces = st.lists(st.binary(min_size=1, max_size=300), min_size=0, max_size=8)


@given(
    events=pieces,
    cuts=st.lists(st.integers(1, 50), max_size=12),
    chunked=st.booleans(),
    request=pieces,
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_byte_comes_through_however_it_is_cut(
    events: list[bytes], cuts: list[int], request: list[bytes], *, chunked: bool
) -> None:
    if chunked:
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        parts = [b"%X\r\n%b\r\n" % (len(event), event) for event in events]
        whole = head + b"".join(parts) + b"0\r\n\r\n"
    else:
        content = b"".join(events)
        whole = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(content), content)
    sent, position = [], 0
    for cut in cuts:
        sent.append(whole[position : position + cut])
        position += cut
    sent = [piece for piece in [*sent, whole[position:]] if piece]
    body = b"".join(request)
    with RawUpstream(sent) as upstream, running(upstream.url) as proxy:
        assert proxy.send(post(body)) == whole
        _, kept = proxy.one()
    assert upstream.received[0].endswith(b"\r\n\r\n" + body)
    assert kept.response == b"".join(events)

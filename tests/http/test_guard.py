"""Whom a server answers, and how much it takes."""

from __future__ import annotations

import socket
from contextlib import closing
from typing import Any

import pytest
from tests.http.conftest import Server, running

from fairtrial.app.bench import Bench
from fairtrial.app.key_revoke import key_revoke
from fairtrial.app.requests.key_revoke import Request as RevokeRequest

MEGABYTE = 1024 * 1024


def is_problem(answer: Any, status: int) -> bool:
    wanted = {"type", "title", "status", "detail", "what", "where", "why", "fix"}
    return (
        answer.status == status
        and answer.headers["content-type"] == "application/problem+json"
        and set(answer.json) == wanted
        and answer.json["status"] == status
    )


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "[::", "10.0.0.1"],
)
def test_a_name_that_was_let_point_here_is_not_answered(server: Server, host: str) -> None:
    assert is_problem(server.ask("/v2/experiments", headers={"Host": host}), 421)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:7411"])
def test_the_names_of_this_machine_are_answered(server: Server, host: str) -> None:
    assert server.ask("/v2/experiments", headers={"Host": host}).status == 200


def test_a_request_names_one_host(server: Server) -> None:
    host, _, port = server.address.partition(":")
    for hosts in (b"", b"Host: localhost\r\nHost: evil.example\r\n"):
        with closing(socket.create_connection((host, int(port)), timeout=10)) as raw:
            raw.sendall(b"GET /v2/health HTTP/1.1\r\n" + hosts + b"Connection: close\r\n\r\n")
            assert raw.recv(64).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Origin": "http://127.0.0.1:bad"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
        {"Content-Type": "multipart/form-data; boundary=x"},
    ],
    ids=str,
)
def test_a_page_of_another_origin_cannot_write(server: Server, headers: dict[str, str]) -> None:
    assert is_problem(server.ask("/v2/experiments", "POST", b"{}", headers), 403)


def test_a_program_and_an_own_page_may_write(server: Server) -> None:
    for headers in ({}, {"Origin": server.url}, {"Sec-Fetch-Site": "same-origin"}):
        assert server.ask("/v2/experiments", "POST", b"{}", headers).status == 400


def test_no_other_site_is_told_that_it_may_read(server: Server) -> None:
    answer = server.ask("/v2/experiments", headers={"Origin": "https://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    preflight = server.ask("/v2/experiments", "OPTIONS", headers={"Origin": "https://evil.example"})
    assert not [name for name in preflight.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/v2/health", "/v2/experiments/none", "/nothing"])
def test_every_answer_is_marked(server: Server, path: str) -> None:
    headers = server.ask(path).headers
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "server" not in headers


def test_a_body_that_says_it_is_too_large_is_not_read(server: Server) -> None:
    host, _, port = server.address.partition(":")
    with closing(socket.create_connection((host, int(port)), timeout=10)) as raw:
        raw.sendall(
            b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 104857600\r\n\r\n"
        )
        assert raw.recv(64).startswith(b"HTTP/1.1 413")


def test_beyond_this_machine_every_request_needs_a_key(bench: Bench) -> None:
    with running(bench, host="0.0.0.0") as server:  # noqa: S104
        reads, writes = server.key("reader"), server.key("writer", "write")

        def status(path: str, method: str, authorization: str | None) -> int:
            headers = {} if authorization is None else {"Authorization": authorization}
            return server.ask(path, method, None, headers).status

        refused = server.ask("/v2/experiments")
        assert is_problem(refused, 401)
        assert refused.headers["www-authenticate"].startswith("Bearer")
        assert status("/v2/health", "GET", None) == 200
        assert status("/v2/openapi.json", "GET", None) == 401
        assert status("/v2/experiments", "GET", f"Bearer {reads}") == 200
        assert status("/v2/experiments", "GET", f"bearer {writes}") == 200
        assert status("/v2/experiments", "POST", f"Bearer {reads}") == 403
        assert status("/v2/experiments", "POST", f"Bearer {writes}") == 400
        for wrong in (f"Basic {reads}", "Bearer", "Bearer ftk_no", f"Bearer {reads}x", "Bearer é"):
            assert status("/v2/experiments", "GET", wrong) == 401
        key_revoke(server.bench, RevokeRequest("reader"))
        assert status("/v2/experiments", "GET", f"Bearer {reads}") == 401


def test_a_wrong_key_is_told_on_this_machine_too(server: Server) -> None:
    assert server.ask("/v2/experiments", headers={"Authorization": "Bearer ftk_x"}).status == 401


def test_what_was_refused_is_counted(bench: Bench) -> None:
    with running(bench) as server:
        server.ask("/v2/health")
        server.ask("/v2/health", headers={"Host": "evil.example"})
        assert server.stop().json() == {
            "schema": "fairtrial.serve/1",
            "requests": 2,
            "refused": 1,
            "sessions": 0,
        }

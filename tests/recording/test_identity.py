"""Whose calls they are, and where they go."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.recording.identity import agent_of, session_of
from fairtrial.recording.routing import host_is_ours, origin_of, split_token, upstreams_of

UUID = "40760971-79c9-48cd-83a1-79ed93d67891"
EVERYWHERE = "0.0.0.0"  # noqa: S104  # only compared with
CODEX = [(b"user-agent", b"codex_exec/0.171.0 (Debian 12)"), (b"originator", b"codex_exec")]


@pytest.mark.parametrize(
    ("headers", "agent"),
    [
        ([(b"User-Agent", b"claude-cli/2.1.332 (external, sdk-cli)")], "claude-code"),
        (CODEX, "codex"),
        ([(b"originator", b"codex-tui")], "codex"),
        ([(b"user-agent", b"Anthropic/Python 2.14.0")], None),
        ([], None),
    ],
)
def test_an_agent_is_known_by_its_headers(
    headers: list[tuple[bytes, bytes]], agent: str | None
) -> None:
    assert agent_of(headers) == agent


@pytest.mark.parametrize(
    ("headers", "body", "session"),
    [
        ([(b"X-Claude-Code-Session-Id", UUID.encode())], None, UUID),
        ([(b"session-id", UUID.encode())], None, UUID),
        ([(b"session_id", UUID.encode())], None, UUID),
        ([(b"conversation_id", UUID.encode())], None, UUID),
        ([(b"X-Fairtrial-Session", b"mine"), (b"session-id", b"other")], None, "mine"),
        ([], {"metadata": {"user_id": json.dumps({"session_id": UUID})}}, UUID),
        ([], {"metadata": {"user_id": f"user_ab_account__session_{UUID}"}}, UUID),
        ([], {"client_metadata": {"session_id": UUID}}, UUID),
        (CODEX, {"prompt_cache_key": UUID}, UUID),
        ([], {"prompt_cache_key": UUID}, None),
        ([], {"metadata": {"user_id": "somebody"}}, None),
        ([], {"metadata": "text", "client_metadata": [1]}, None),
        ([(b"session-id", b"has\\x1b spaces \\xff")], None, None),
        ([(b"x-fairtrial-session", b"a#1")], None, "a-1"),
        ([(b"x-fairtrial-session", b"")], None, None),
    ],
)
def test_a_session_is_what_the_client_says(
    headers: list[tuple[bytes, bytes]], body: dict[str, Any] | None, session: str | None
) -> None:
    assert session_of(headers, body) == session


@pytest.mark.parametrize(
    ("path", "anthropic", "where"),
    [
        ("/v1/messages?beta=true", False, "https://api.anthropic.com/v1/messages?beta=true"),
        ("/v1/messages/count_tokens", True, "https://api.anthropic.com/v1/messages/count_tokens"),
        ("/v1/complete", False, "https://api.anthropic.com/v1/complete"),
        ("/v1/responses/resp_1/cancel", False, "https://api.openai.com/v1/responses/resp_1/cancel"),
        ("/v1/chat/completions", True, "https://api.openai.com/v1/chat/completions"),
        ("/v1/embeddings", False, "https://api.openai.com/v1/embeddings"),
        ("/v1/models", True, "https://api.anthropic.com/v1/models"),
        ("/v1/models", False, "https://api.openai.com/v1/models"),
        ("/v1/messagesx", False, None),
        ("/v2/messages", False, None),
        ("/v1", False, None),
    ],
)
def test_a_path_says_where_a_request_goes(path: str, where: str | None, *, anthropic: bool) -> None:
    routed = upstreams_of({}).route(path, speaks_anthropic=anthropic)
    if where is None:
        assert routed is None
    else:
        assert routed is not None
        origin, there = routed
        assert f"https://{origin.authority}{there}" == where


def test_upstreams_are_those_of_the_options_then_of_the_environment() -> None:
    environ = {"ANTHROPIC_BASE_URL": "http://gate:8080/a/", "OPENAI_BASE_URL": "https://o/v1"}
    upstreams = upstreams_of(environ, openai="http://[::1]:9/v1")
    assert upstreams.anthropic.url == "http://gate:8080/a"
    assert (upstreams.anthropic.host, upstreams.anthropic.port) == ("gate", 8080)
    assert (upstreams.openai.host, upstreams.openai.port) == ("::1", 9)
    assert upstreams.openai.authority == "[::1]:9"
    assert origin_of("https://host:443/v1", "--x").authority == "host"
    for wrong in ("host", "ftp://host", "http://u:p@host", "http://host?x=1", "http://host:x"):
        with pytest.raises(UsageError, match="--x"):
            origin_of(wrong, "--x")


def test_a_token_is_taken_off_a_path() -> None:
    assert split_token("/t/abc/v1/messages?x=/t/") == ("abc", "/v1/messages?x=/t/")
    assert split_token("/v1/messages") == (None, "/v1/messages")
    assert split_token("/t/abc") == ("abc", "")


@pytest.mark.parametrize(
    ("authority", "bound", "ours"),
    [
        ("127.0.0.1:80", "127.0.0.1", True),
        ("evil.example", "127.0.0.1", False),
        ("192.168.0.7:80", "127.0.0.1", False),
        ("192.168.0.7:80", EVERYWHERE, True),
        ("host.docker.internal:80", EVERYWHERE, True),
        ("host.docker.internal:80", "127.0.0.1", False),
        ("evil.example", EVERYWHERE, False),
        ("build-box:80", "build-box", True),
        ("[", "127.0.0.1", False),
    ],
)
def test_only_names_that_no_web_page_can_have_are_ours(
    authority: str, bound: str, *, ours: bool
) -> None:
    assert host_is_ours(authority, bound) is ours

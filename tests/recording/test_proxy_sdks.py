"""The official SDKs through the proxy: they see what they see without it, and it is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from tests.recording.conftest import Running, Start

from fairtrial.model.call import ToolUse
from fairtrial.model.task import Tokens
from fairtrial.ports import Prices
from fairtrial.testing.model_server import Fault, ModelServer, ScriptedAnswer

MESSAGES: Any = [{"role": "user", "content": "Hello?"}]
USAGE = Tokens(input=120, output=30, cache_read=40, cache_write=7)


class TwoDollars(Prices):
    """Every call costs two dollars."""

    def cost_usd(self, model: str, tokens: Tokens) -> float | None:
        return 2.0 if self.knows(model) and tokens.output else None

    def knows(self, model: str) -> bool:
        return model.startswith("claude-")


@pytest.fixture
def claude() -> Iterator[Any]:
    """Make Anthropic clients that end with the test."""
    clients: list[anthropic.Anthropic] = []

    def make(proxy: Running, **options: Any) -> anthropic.Anthropic:
        options = {"max_retries": 0, "timeout": 20.0, **options}
        client = anthropic.Anthropic(base_url=proxy.url, api_key="sk-ant-x-1234567890", **options)
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def gpt() -> Iterator[Any]:
    """Make OpenAI clients that end with the test."""
    clients: list[openai.OpenAI] = []

    def make(proxy: Running, **options: Any) -> openai.OpenAI:
        options = {"max_retries": 0, "timeout": 20.0, **options}
        client = openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="sk-x-1234567890", **options)
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()


def ask(client: anthropic.Anthropic, **options: Any) -> Any:
    return client.messages.create(
        model="claude-sonnet-5-5", max_tokens=64, messages=MESSAGES, **options
    )


@pytest.mark.parametrize("encoding", [None, "gzip"])
def test_anthropic_answers_whole(start: Start, claude: Any, encoding: str | None) -> None:
    with ModelServer([ScriptedAnswer("Hi there.", tokens=USAGE, encoding=encoding)]) as server:
        proxy = start(server.url, prices=TwoDollars())
        reply = ask(claude(proxy))
        call, body = proxy.one()
    assert reply.content[0].text == "Hi there."
    assert (call.api, call.model, call.status) == ("anthropic-messages", "claude-sonnet-5-5", 200)
    assert (call.streamed, call.problem, call.cost_usd) == (False, None, 2.0)
    assert call.tokens is not None
    assert (call.tokens.input, call.tokens.output) == (120, 30)
    assert (call.tokens.cache_read, call.tokens.cache_write) == (40, 7)
    assert call.canonical is not None
    assert b"Hi there." in body.response
    assert b"sk-ant-x" not in repr(body).encode()


def test_anthropic_streams(start: Start, claude: Any) -> None:
    answer = ScriptedAnswer(
        "One two three four five.",
        thinking="Hmm.",
        tool_uses=(ToolUse("t1", "look", {"at": "it"}),),
    )
    with ModelServer([answer]) as server:
        direct = ask(claude(start(server.url)), stream=True)
        events = [event.type for event in direct]
        proxy = start(server.url)
        with claude(proxy).messages.stream(
            model="claude-sonnet-5-5", max_tokens=64, messages=MESSAGES
        ) as stream:
            message = stream.get_final_message()
        call, body = proxy.one()
    assert events[0] == "message_start"
    assert "One two three four five." in [getattr(part, "text", "") for part in message.content]
    assert (call.streamed, call.problem) == (True, None)
    assert call.first_byte_s is not None
    assert call.tokens is not None
    assert body.response.endswith(b"\n\n")
    assert b"event: message_stop" in body.response


@pytest.mark.parametrize("stream", [False, True])
def test_openai_responses(start: Start, gpt: Any, *, stream: bool) -> None:
    with ModelServer([ScriptedAnswer("Fine.", tokens=USAGE)]) as server:
        proxy = start(server.url)
        reply = gpt(proxy).responses.create(model="gpt-5.5", input="Well?", stream=stream)
        if stream:
            reply = next(e.response for e in reply if e.type == "response.completed")
        call, _ = proxy.one()
    assert reply.output_text == "Fine."
    assert (call.api, call.model, call.streamed) == ("openai-responses", "gpt-5.5", stream)
    assert call.tokens is not None
    assert call.tokens.output == 30


@pytest.mark.parametrize("stream", [False, True])
def test_openai_chat(start: Start, gpt: Any, *, stream: bool) -> None:
    with ModelServer([ScriptedAnswer("Good.", tokens=USAGE)]) as server:
        proxy = start(server.url)
        options = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
        reply = gpt(proxy).chat.completions.create(model="gpt-5.5", messages=MESSAGES, **options)
        if stream:
            words = "".join(
                chunk.choices[0].delta.content or "" for chunk in reply if chunk.choices
            )
        else:
            words = reply.choices[0].message.content
        call, _ = proxy.one()
    assert words == "Good."
    assert (call.api, call.streamed, call.problem) == ("openai-chat", stream, None)
    assert call.tokens is not None
    assert call.tokens.output == 30


def test_lists_and_counts_pass_and_are_no_model_calls(start: Start, claude: Any, gpt: Any) -> None:
    with ModelServer() as server:
        proxy = start(server.url)
        assert list(claude(proxy).models.list())
        assert list(gpt(proxy).models.list())
        claude(proxy).messages.count_tokens(model="claude-sonnet-5-5", messages=MESSAGES)
        kept = proxy.recorded(3)
    assert [call.api for call, _ in kept] == [None] * 3
    assert [call.path.split("?")[0] for call, _ in kept] == [
        "/v1/models",
        "/v1/models",
        "/v1/messages/count_tokens",
    ]


def test_a_retry_is_a_call_of_its_own(start: Start, claude: Any) -> None:
    script = [
        ScriptedAnswer(status=429, headers={"retry-after-ms": "1", "Retry-After": "0"}),
        ScriptedAnswer("At last."),
    ]
    with ModelServer(script) as server:
        proxy = start(server.url)
        assert ask(claude(proxy, max_retries=2)).content[0].text == "At last."
        kept = proxy.recorded(2)
    assert [(call.number, call.status) for call, _ in kept] == [(1, 429), (2, 200)]
    assert kept[0][0].canonical == kept[1][0].canonical


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 529])
def test_errors_are_the_ones_of_the_upstream(start: Start, claude: Any, status: int) -> None:
    refusal = ScriptedAnswer(status=status, error="so it is", headers={"Retry-After": "3"})
    with ModelServer([refusal]) as server:
        proxy = start(server.url)
        with pytest.raises(anthropic.APIStatusError, match="so it is") as caught:
            ask(claude(proxy))
        call, _ = proxy.one()
    assert caught.value.status_code == status
    assert caught.value.response.headers["Retry-After"] == "3"
    assert (call.status, call.problem, call.tokens) == (status, None, None)


def test_a_stream_that_is_cut_is_an_error_of_the_client_too(start: Start, claude: Any) -> None:
    with ModelServer([ScriptedAnswer("many words " * 20, fault=Fault.CUT_STREAM)]) as server:
        proxy = start(server.url)
        with pytest.raises(Exception, match=r"closed|incomplete|connection"):
            list(ask(claude(proxy), stream=True))
        call, body = proxy.one()
    assert call.problem is not None
    assert call.problem.startswith("cut: ")
    assert b"message_start" in body.response


def test_a_client_that_stops_a_stream_cancels_it_upstream(start: Start, claude: Any) -> None:
    with ModelServer([ScriptedAnswer("words " * 50, fault=Fault.HANG_MIDWAY)]) as server:
        proxy = start(server.url)
        client = claude(proxy)
        stream = ask(client, stream=True)
        next(iter(stream))
        stream.close()
        client.close()
        server.wait_until(lambda server: server.gone == 1)
        call, body = proxy.one()
    assert (call.status, call.problem) == (200, "cancelled by the client")
    assert b"message_start" in body.response


def test_a_client_that_waits_no_longer_cancels(start: Start, claude: Any) -> None:
    with ModelServer([ScriptedAnswer(fault=Fault.HANG)]) as server:
        proxy = start(server.url)
        with pytest.raises(anthropic.APITimeoutError):
            ask(claude(proxy, timeout=0.3))
        call, _ = proxy.one()
    assert (call.status, call.problem) == (None, "cancelled by the client")


def test_a_refused_connection_is_told_to_the_user(start: Start, claude: Any, gpt: Any) -> None:
    with ModelServer() as server:
        url = server.url
    proxy = start(url)
    with pytest.raises(anthropic.InternalServerError, match="connection refused"):
        ask(claude(proxy))
    with pytest.raises(openai.InternalServerError, match="connection refused"):
        gpt(proxy).responses.create(model="m", input="x")
    assert all(call.status is None for call, _ in proxy.recorded(2))


def test_an_unknown_path_tells_the_user_what_is_served(start: Start) -> None:
    with ModelServer() as server:
        proxy = start(server.url)
        client = openai.OpenAI(base_url=f"{proxy.url}/api", api_key="x" * 9, max_retries=0)
        with client, pytest.raises(openai.NotFoundError, match="/v1/responses"):
            client.responses.create(model="m", input="x")


def test_ten_megabytes_stream(start: Start, claude: Any) -> None:
    with ModelServer([ScriptedAnswer(fault=Fault.HUGE)]) as server:
        proxy = start(server.url)
        size = sum(
            len(getattr(event.delta, "text", ""))
            for event in ask(claude(proxy), stream=True)
            if event.type == "content_block_delta"
        )
        call, body = proxy.one()
    assert size == 10_000_000
    assert call.problem is None
    assert len(body.response) > size


def test_sessions_are_numbered(start: Start, claude: Any, gpt: Any) -> None:
    with ModelServer() as server:
        proxy = start(server.url)
        for session in ("s1", "s2", "s1"):
            ask(claude(proxy), extra_headers={"x-fairtrial-session": session})
        gpt(proxy).responses.create(model="m", input="x")
        kept = proxy.recorded(4)
    assert [(call.session, call.number) for call, _ in kept] == [
        ("s1", 1),
        ("s2", 1),
        ("s1", 2),
        ("proxy_run", 1),
    ]
    assert all("x-fairtrial-session" not in request.headers for request in server.requests)

"""What the HTTP providers ask and how they read the answer."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest
from tests.providers.http_calls import (
    HELLO,
    KEY,
    ask,
    at,
    each_dialect,
    each_way,
    provider,
    trouble,
)

from fairtrial.model.call import (
    Api,
    Message,
    ModelCall,
    StopReason,
    Tool,
    ToolResult,
    ToolUse,
    WireCall,
)
from fairtrial.model.errors import InfraError, ProviderError, UsageError
from fairtrial.model.task import Tokens
from fairtrial.testing.model_server import Fault, ModelServer, ScriptedAnswer

LOOK = ToolUse("call_1", "look", {"city": "Bern"})


class Penny:
    """A price list: a dollar for each token of a known model."""

    def knows(self, model: str) -> bool:
        return model == "m-1"

    def cost_usd(self, model: str, tokens: Tokens) -> float | None:
        return float(tokens.total or 0) if self.knows(model) else None


@each_way
def test_words_counts_and_cost(dialect: dict[str, Any]) -> None:
    tokens = Tokens(10, 20, 5, 3, 4)
    answer = ScriptedAnswer("Grüezi!", thinking="Hm.", tokens=tokens, model="m-1-2026-11-29")
    with ModelServer([answer]) as server:
        reply = ask(provider(at(server, dialect), prices=Penny()))
    assert (reply.text, reply.model, reply.tokens) == ("Grüezi!", "m-1-2026-11-29", tokens)
    assert reply.cost_usd == 38
    assert (reply.first_token_s is not None) == dialect["stream"]
    (asked,) = server.calls
    assert asked.streamed == dialect["stream"]
    assert asked.model == "m-1"


@each_way
def test_tools_go_there_and_back(dialect: dict[str, Any]) -> None:
    answers = [ScriptedAnswer("", (LOOK,)), ScriptedAnswer("Rain.")]
    call = ModelCall(HELLO.messages, model="m-1", tools=(Tool("look", "Looks."),))
    with ModelServer(answers) as server:
        made = provider(at(server, dialect))
        first = ask(made, call)
        assert (first.stop, first.tool_uses) == (StopReason.TOOL_USE, (LOOK,))
        later = (
            Message("assistant", tool_uses=first.tool_uses),
            Message("user", tool_results=(ToolResult(LOOK.id, "rain"),)),
        )
        second = ask(made, dataclasses.replace(call, messages=call.messages + later))
    assert second.text == "Rain."
    assert server.calls[0].tool_names == ("look",)
    assert "rain" in server.calls[1].text


@each_dialect
def test_a_body_is_sent_as_it_stands(dialect: dict[str, Any]) -> None:
    api = {
        "responses": Api.OPENAI_RESPONSES,
        "chat": Api.OPENAI_CHAT,
        None: Api.ANTHROPIC_MESSAGES,
    }[dialect.get("api")]
    body = {"model": "m-2", "odd": [1, {"a": None}], "stream": True}
    headers = {"anthropic-beta": "x-1", "Authorization": "Bearer stolen", "Host": "else"}
    with ModelServer() as server:
        reply = ask(provider(at(server, dialect)), WireCall(api, body, headers))
    assert reply.text == "Hello!"
    assert server.calls[0].body == body
    assert server.calls[0].headers["anthropic-beta"] == "x-1"
    assert server.calls[0].headers["host"].startswith("127.0.0.1")


def test_the_openai_provider_sends_both_of_its_apis_and_no_other() -> None:
    with ModelServer() as server:
        made = provider(at(server, {"kind": "openai"}))
        for api in (Api.OPENAI_RESPONSES, Api.OPENAI_CHAT):
            assert ask(made, WireCall(api, {"model": "m"})).text == "Hello!"
        with pytest.raises(ProviderError, match="does not speak anthropic-messages, only openai"):
            ask(made, WireCall(Api.ANTHROPIC_MESSAGES, {"model": "m"}))
    assert [call.api for call in server.calls] == [Api.OPENAI_RESPONSES, Api.OPENAI_CHAT]


@each_dialect
def test_the_address_of_a_call_wins(dialect: dict[str, Any]) -> None:
    with ModelServer() as server:
        made = provider({**dialect, "base_url": "http://127.0.0.1:9"})
        for base in (server.url, server.v1_url):
            assert ask(made, dataclasses.replace(HELLO, base_url=base)).text == "Hello!"
    assert {call.path for call in server.calls} & {
        "/v1/messages",
        "/v1/responses",
        "/v1/chat/completions",
    } == {server.calls[0].path}


@each_dialect
def test_the_address_of_the_environment_is_used_with_the_usual_key(dialect: dict[str, Any]) -> None:
    family = "ANTHROPIC" if dialect["kind"] == "anthropic" else "OPENAI"
    with ModelServer(api_key=KEY) as server:
        environ = {f"{family}_BASE_URL": server.v1_url, f"{family}_API_KEY": KEY}
        assert ask(provider(dialect, environ)).text == "Hello!"


def test_the_usual_key_goes_to_no_address_of_a_spec() -> None:
    with ModelServer() as server:
        environ = {"OPENAI_API_KEY": KEY}
        ask(provider({"kind": "openai", "base_url": server.url}, environ))
    assert "authorization" not in server.calls[0].headers


def test_other_servers_are_asked_by_chat_with_the_older_name_of_the_limit() -> None:
    with ModelServer() as server:
        ask(provider({"kind": "openai", "base_url": server.url, "max_tokens": 77}))
    assert server.calls[0].api is Api.OPENAI_CHAT
    assert server.calls[0].body["max_tokens"] == 77


def test_headers_are_sent_and_their_secrets_hidden() -> None:
    answer = ScriptedAnswer(status=400, error=f"bad header {KEY}")
    with ModelServer([answer]) as server:
        spec = at(server, {"kind": "openai"}, headers={"X-Tenant": "t1", "X-Key": "${THE_KEY}"})
        made = provider(spec)
        assert "${THE_KEY}" in str(trouble(made))
    assert server.calls[0].headers["x-tenant"] == "t1"
    assert server.calls[0].headers["x-key"] == KEY
    assert KEY not in str(made.identity)
    assert KEY not in repr(made)


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_without_a_key_the_official_address_is_not_called(kind: str) -> None:
    problem = trouble(provider({"kind": kind}, {}))
    assert isinstance(problem, InfraError)
    assert problem.kind == "login"
    assert f"{kind.upper()}_API_KEY is not set" in str(problem)


def test_a_named_key_that_is_not_set_is_told() -> None:
    spec = {"kind": "openai", "base_url": "http://127.0.0.1:9", "api_key_env": "NOPE"}
    problem = trouble(provider(spec, {}))
    assert isinstance(problem, InfraError)
    assert (problem.kind, "NOPE is not set" in str(problem)) == ("login", True)


def test_without_a_model_a_server_of_ones_own_is_not_called() -> None:
    made = provider({"kind": "openai", "base_url": "http://127.0.0.1:9"}, {})
    assert "give 'model'" in str(trouble(made, ModelCall(HELLO.messages)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "localhost:8000"}, "no base URL"),
        ({"base_url": "ftp://x"}, "no base URL"),
        ({"base_url": "http://x/?key=1"}, "no base URL"),
        ({"base_url": "http://a:b@x"}, "with a password"),
        ({"headers": {"X": "${NOPE}"}}, "NOPE"),
        ({"headers": {"X Y": "1"}}, "name of a header"),
        ({"stream": "yes"}, "stream"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"api": "telepathy"}, "api"),
    ],
)
def test_what_cannot_work_is_told_before_the_run(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        provider({"kind": "openai", **options}, {})
    assert message in str(caught.value)


def test_an_address_of_the_environment_that_cannot_work_is_told_by_its_name() -> None:
    with pytest.raises(UsageError, match="OPENAI_BASE_URL"):
        provider({"kind": "openai"}, {"OPENAI_BASE_URL": "nonsense"})


@each_dialect
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_compressed_answers_are_read(dialect: dict[str, Any], encoding: str) -> None:
    with ModelServer([ScriptedAnswer("Hi " * 99, encoding=encoding)]) as server:
        for stream in (True, False):
            assert ask(provider(at(server, dialect, stream=stream))).text == "Hi " * 99


@each_way
def test_an_answer_of_ten_megabytes_is_read(dialect: dict[str, Any]) -> None:
    with ModelServer([ScriptedAnswer(fault=Fault.HUGE)]) as server:
        assert len(ask(provider(at(server, dialect))).text) == 10_000_000


@each_dialect
def test_a_large_question_is_asked(dialect: dict[str, Any]) -> None:
    call = ModelCall((Message("user", "word " * 400_000),), model="m-1")
    with ModelServer() as server:
        assert ask(provider(at(server, dialect)), call).text == "Hello!"
        assert len(server.calls[0].text) >= 2_000_000


@each_dialect
def test_half_a_surrogate_pair_in_a_question_is_no_crash(dialect: dict[str, Any]) -> None:
    call = ModelCall((Message("user", "\ud83d"),), model="m-1")
    with ModelServer() as server:
        assert ask(provider(at(server, dialect)), call).text == "Hello!"


@each_way
@pytest.mark.parametrize("stop", [StopReason.LENGTH, StopReason.REFUSAL])
def test_a_cut_answer_and_a_refusal_are_answers(dialect: dict[str, Any], stop: StopReason) -> None:
    with ModelServer([ScriptedAnswer("So", stop=stop)]) as server:
        reply = ask(provider(at(server, dialect)))
    assert (reply.stop, reply.text) == (stop, "So")


def test_a_filter_that_declines_is_a_refusal() -> None:
    answer = ScriptedAnswer(status=400, error="Filtered.", error_code="content_filter")
    with ModelServer([answer]) as server:
        reply = ask(provider(at(server, {"kind": "openai"})))
    assert (reply.stop, reply.text, reply.tokens) == (StopReason.REFUSAL, "Filtered.", Tokens())


@each_dialect
def test_a_cancelled_call_closes_its_connection(dialect: dict[str, Any]) -> None:
    faults = [Fault.HANG, Fault.HANG_MIDWAY]
    with ModelServer([ScriptedAnswer(fault=fault) for fault in faults]) as server:

        async def cancelled() -> None:
            made = provider(at(server, dialect))
            await made.open()
            loop = asyncio.get_running_loop()
            for number in (1, 2):
                task = asyncio.ensure_future(made.complete(HELLO))
                await loop.run_in_executor(
                    None, server.wait_until, lambda it, n=number: len(it.calls) == n
                )
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                # Before the provider is closed: nothing keeps running in secret.
                await loop.run_in_executor(
                    None, server.wait_until, lambda it, n=number: it.gone == n
                )
            await made.close()

        asyncio.run(cancelled())


@each_way
def test_calls_one_after_another_share_a_connection(dialect: dict[str, Any]) -> None:
    with ModelServer() as server:

        async def thrice() -> None:
            made = provider(at(server, dialect))
            await made.open()
            for _ in range(3):
                await made.complete(HELLO)
            await made.close()

        asyncio.run(thrice())
    assert len({call.client_port for call in server.calls}) == 1


def test_identities_differ_where_answers_may() -> None:
    specs: list[dict[str, Any]] = [
        {"kind": "openai"},
        {"kind": "anthropic"},
        {"kind": "openai", "api": "chat"},
        {"kind": "openai", "model": "m"},
        {"kind": "openai", "base_url": "http://127.0.0.1:1"},
        {"kind": "openai", "max_tokens": 5},
        {"kind": "openai", "headers": {"X": "1"}},
    ]
    identities = [str(provider(spec, {}).identity) for spec in specs]
    assert len(set(identities)) == len(specs)
    same = {"kind": "openai", "stream": False, "timeout_s": 5, "api_key_env": "OTHER"}
    assert str(provider(same, {}).identity) == identities[0]


@pytest.mark.parametrize("key", ["sk-ant-0123456789-secret", "a b", "$KEY"])
def test_a_key_in_place_of_its_variable_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(UsageError) as caught:
        provider({"kind": "anthropic", "api_key_env": key})
    assert "'api_key_env'" in str(caught.value)
    assert key not in str(caught.value)


def test_a_key_too_short_to_hide_garbles_no_message() -> None:
    made = provider(
        {"kind": "openai", "base_url": "http://127.0.0.1:1", "model": "m", "api_key_env": "K"},
        {"K": "k"},
    )
    assert "cannot connect" in str(trouble(made))
    assert "${K}" not in str(trouble(made))

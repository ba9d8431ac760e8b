"""Trouble with a model API: what each kind becomes, and that its message names the fix."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import socket
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

from fairtrial.model.errors import InfraError, ProviderError
from fairtrial.testing.model_server import Fault, ModelServer, ScriptedAnswer, ScriptedRequest

CLAUDE: dict[str, Any] = {"kind": "anthropic"}
GPT: dict[str, Any] = {"kind": "openai", "api": "chat"}
DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


def met(answer: ScriptedAnswer, dialect: dict[str, Any], **options: Any) -> Exception:
    with ModelServer([answer]) as server:
        return trouble(provider(at(server, dialect, **options)))


def infra(problem: Exception) -> tuple[str, float | None]:
    assert isinstance(problem, InfraError), problem
    return problem.kind, problem.retry_after


@each_dialect
@pytest.mark.parametrize(
    ("status", "kind", "fix"),
    [
        (401, "login", "check the key in THE_KEY"),
        (403, "login", "that it may use m-1"),
        (402, "quota", "add credit"),
        (407, "login", "check HTTPS_PROXY"),
        (408, "server", "try again"),
        (409, "server", "try again"),
        (429, "rate_limit", "lower --concurrency"),
        (500, "server", "try again later"),
        (502, "server", "try again later"),
        (503, "server", "try again later"),
        (529, "server", "try again later"),
    ],
)
def test_a_status_of_the_world(dialect: dict[str, Any], status: int, kind: str, fix: str) -> None:
    problem = met(ScriptedAnswer(status=status, error=f"sorry, {KEY}"), dialect)
    assert infra(problem)[0] == kind
    assert f"HTTP {status}: sorry, ${{THE_KEY}}" in str(problem)
    assert fix in str(problem)


@each_dialect
@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_a_status_of_the_call(dialect: dict[str, Any], status: int) -> None:
    answer = ScriptedAnswer(
        status=status, error="temperature: not today", error_code="unsupported_value"
    )
    with ModelServer([answer], models=("m-1",)) as server:
        problem = trouble(provider(at(server, dialect)))
    assert isinstance(problem, ProviderError)
    fix = "check 'base_url'" if status == 404 else "correct what it names"
    assert f"the call is refused: HTTP {status}: temperature: not today; {fix}" in str(problem)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "7", "retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT", "Date": DATE}, 30.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:00:00 GMT", "Date": DATE}, 0.0),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "whenever"}, None),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_how_long_to_wait(status: int, headers: dict[str, str], wait: float | None) -> None:
    assert infra(met(ScriptedAnswer(status=status, headers=headers), CLAUDE))[1] == wait


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        (GPT, ScriptedAnswer(status=429, error_code="insufficient_quota", error="Check billing")),
        (
            CLAUDE,
            ScriptedAnswer(status=400, error="Your credit balance is too low to access the API."),
        ),
        (
            CLAUDE,
            ScriptedAnswer(
                status=400,
                error="You have reached your specified API usage limits. You will regain access",
            ),
        ),
        (CLAUDE, ScriptedAnswer(status=402)),
    ],
)
def test_a_spent_account_is_quota(dialect: dict[str, Any], answer: ScriptedAnswer) -> None:
    problem = met(answer, dialect)
    assert infra(problem)[0] == "quota"
    assert "no quota or credit left" in str(problem)


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        (GPT, ScriptedAnswer(status=400, error_code="context_length_exceeded")),
        (CLAUDE, ScriptedAnswer(status=400, error="prompt is too long: 9 tokens > 8 maximum")),
        (
            GPT,
            ScriptedAnswer(status=400, error="This model's maximum context length is 8 tokens."),
        ),
        (GPT, ScriptedAnswer(status=400, error_type="exceed_context_size_error")),
    ],
)
def test_a_question_over_the_context_window_is_told(
    dialect: dict[str, Any], answer: ScriptedAnswer
) -> None:
    problem = met(answer, dialect)
    assert isinstance(problem, ProviderError)
    assert "does not fit into the context window of m-1" in str(problem)
    assert "shorten it" in str(problem)


@each_dialect
def test_an_unknown_model_is_named_with_the_nearest(dialect: dict[str, Any]) -> None:
    with ModelServer(strict=True, models=("m-10", "other")) as server:
        problem = trouble(provider(at(server, dialect)))
    assert isinstance(problem, ProviderError)
    assert "there is no model 'm-1'" in str(problem)
    assert "did you mean m-10?" in str(problem)


def test_an_unknown_model_of_a_server_that_lists_none_is_named() -> None:
    answer = ScriptedAnswer(status=404, error="model 'm-1' not found, pull it first")
    with ModelServer([answer], models=()) as server:
        problem = trouble(provider(at(server, GPT)))
    assert "there is no model 'm-1'" in str(problem)
    assert "pull it first" in str(problem)


def test_another_404_says_to_check_the_address() -> None:
    listed = dataclasses.replace(HELLO, model="scripted-1")
    answer = ScriptedAnswer(status=404, error="Not Found", error_code="unknown_url")
    with ModelServer([answer]) as server:
        problem = trouble(provider(at(server, GPT)), listed)
    assert isinstance(problem, ProviderError)
    assert "check 'base_url' (http://127.0.0.1:" in str(problem)


def test_a_redirect_is_not_followed() -> None:
    answer = ScriptedAnswer(status=307, headers={"Location": "http://127.0.0.1:9/else"})
    problem = met(answer, GPT)
    assert isinstance(problem, ProviderError)
    assert "name the final address in 'base_url'" in str(problem)


@each_way
@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (Fault.CUT_STREAM, "network", "broke in the middle of the answer; try again"),
        (Fault.INVALID_JSON, "server", "valid JSON"),
        (Fault.EMPTY, "server", "it is empty"),
    ],
)
def test_a_broken_answer(dialect: dict[str, Any], fault: Fault, kind: str, words: str) -> None:
    problem = met(ScriptedAnswer("word " * 50, fault=fault), dialect)
    assert infra(problem)[0] == kind
    assert words in str(problem)


@each_dialect
def test_a_stream_without_its_end_is_no_answer(dialect: dict[str, Any]) -> None:
    problem = met(ScriptedAnswer(fault=Fault.NO_END), dialect)
    assert infra(problem)[0] == "network"
    assert "ended in the middle of the answer" in str(problem)


@pytest.mark.parametrize(
    ("dialect", "type_", "kind"),
    [
        (CLAUDE, "overloaded_error", "server"),
        (CLAUDE, "api_error", "server"),
        (CLAUDE, "rate_limit_error", "rate_limit"),
        (CLAUDE, "authentication_error", "login"),
        (CLAUDE, "billing_error", "quota"),
        (CLAUDE, "invalid_request_error", None),
        (CLAUDE, "something_new", "server"),
        ({**GPT, "api": "responses"}, "server_error", "server"),
        ({**GPT, "api": "responses"}, "rate_limit_exceeded", "rate_limit"),
        ({**GPT, "api": "responses"}, "insufficient_quota", "quota"),
        ({**GPT, "api": "responses"}, "invalid_prompt", None),
        (GPT, "server_error", "server"),
        (GPT, "invalid_request_error", None),
    ],
)
def test_an_error_in_a_stream_by_its_type(
    dialect: dict[str, Any], type_: str, kind: str | None
) -> None:
    answer = ScriptedAnswer(fault=Fault.ERROR_EVENT, error_type=type_, error="in the middle")
    problem = met(answer, dialect)
    assert "in the middle" in str(problem)
    if kind is None:
        assert isinstance(problem, ProviderError)
    else:
        assert infra(problem)[0] == kind


def test_a_policy_that_stops_a_response_is_a_refusal() -> None:
    answer = ScriptedAnswer(fault=Fault.ERROR_EVENT, error_code="bio_policy", error="No.")
    with ModelServer([answer]) as server:
        reply = ask(provider(at(server, {**GPT, "api": "responses"})))
    assert (str(reply.stop), reply.text) == ("refusal", "No.")


@each_dialect
def test_a_stream_that_hangs_ends_after_the_idle_limit(dialect: dict[str, Any]) -> None:
    for fault in (Fault.HANG, Fault.HANG_MIDWAY):
        problem = met(ScriptedAnswer(fault=fault), dialect, idle_timeout_s=0.3)
        assert infra(problem)[0] == "network"
        assert "sent nothing for 0.3 s ('idle_timeout_s')" in str(problem)


@each_dialect
def test_an_answer_that_hangs_ends_after_its_limit(dialect: dict[str, Any]) -> None:
    problem = met(ScriptedAnswer(fault=Fault.HANG), dialect, stream=False, timeout_s=0.3)
    assert infra(problem)[0] == "network"
    assert "within 0.3 s ('timeout_s')" in str(problem)


def test_a_slow_answer_is_no_trouble() -> None:
    slow = ScriptedAnswer("So", fault=Fault.SLOW_FIRST_BYTE, slow_s=0.05, chunk_delay_s=0.01)
    with ModelServer([slow]) as server:
        reply = ask(provider(at(server, CLAUDE)))
    assert reply.first_token_s is not None
    assert reply.first_token_s >= 0.05


@each_way
def test_an_answer_over_the_limit_is_refused(dialect: dict[str, Any]) -> None:
    problem = met(ScriptedAnswer(fault=Fault.HUGE, huge_bytes=65 * 2**20), dialect)
    assert isinstance(problem, ProviderError)
    assert "over 64 MiB" in str(problem)


def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        spec = {**GPT, "base_url": f"http://127.0.0.1:{taken.getsockname()[1]}"}
        problem = trouble(provider(spec))
    assert infra(problem)[0] == "network"
    assert "is the server running? check 'base_url' or OPENAI_BASE_URL" in str(problem)


def test_a_name_that_does_not_exist() -> None:
    problem = trouble(provider({**GPT, "base_url": "http://no-such-host.invalid"}))
    assert infra(problem)[0] == "network"
    assert "no-such-host.invalid" in str(problem)
    assert "check 'base_url'" in str(problem)


def test_https_to_a_server_without_it() -> None:
    with ModelServer() as server:
        spec = {**GPT, "base_url": server.url.replace("http:", "https:")}
        problem = trouble(provider(spec))
    assert infra(problem)[0] == "network"
    assert "check http or https in 'base_url'" in str(problem)


@pytest.mark.parametrize(("status", "kind"), [(407, "login"), (403, "network")])
def test_a_proxy_that_does_not_let_us_through(status: int, kind: str) -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % status)
        await writer.drain()
        writer.close()

    async def run() -> InfraError:
        proxy = await asyncio.start_server(refuse, "127.0.0.1", 0)
        async with proxy:
            port = proxy.sockets[0].getsockname()[1]
            environ = {"HTTPS_PROXY": f"http://127.0.0.1:{port}"}
            made = provider({**GPT, "base_url": "https://models.invalid"}, environ)
            await made.open()
            try:
                with pytest.raises(InfraError) as caught:
                    await made.complete(HELLO)
            finally:
                await made.close()
        return caught.value

    problem = asyncio.run(run())
    assert problem.kind == kind
    assert f"HTTP {status} No; check HTTPS_PROXY" in str(problem)


def test_a_web_page_is_no_answer() -> None:
    page = ScriptedAnswer(body=b"<html>Log in</html>", headers={"Content-Type": "text/html"})
    problem = met(page, GPT)
    assert infra(problem)[0] == "server"
    assert "check that 'base_url' is a model API" in str(problem)


def test_one_call_in_trouble_does_no_harm_to_the_others() -> None:
    def script(request: ScriptedRequest) -> ScriptedAnswer:
        return ScriptedAnswer(fault=Fault.CUT_STREAM if request.number % 2 else None)

    with ModelServer(script) as server:

        async def many() -> list[Any]:
            made = provider(at(server, CLAUDE))
            await made.open()
            with contextlib.suppress(Exception):
                calls = (made.complete(HELLO) for _ in range(20))
                results = await asyncio.gather(*calls, return_exceptions=True)
            await made.close()
            return results

        results = asyncio.run(many())
    assert sum(isinstance(result, InfraError) for result in results) == 10

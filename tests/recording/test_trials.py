"""Calls of trials: whose they are, and recorded answers that are served again."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime
from typing import Any

import anthropic
import openai
import pytest
from tests.recording.conftest import Running, Start

from fairtrial.model.errors import StoreError
from fairtrial.model.recorded_call import CallBody, CallOwner, RecordedCall
from fairtrial.model.trial import TrialKey
from fairtrial.recording.exchange import DescribedRequest, ServedAnswer
from fairtrial.testing.model_server import Fault, ModelServer, ScriptedAnswer

OWNER = CallOwner("exp_1", TrialKey("c1", "", "main", 1))
ANOTHER = CallOwner("exp_1", TrialKey("c2", "", "main", 1))
MESSAGES: Any = [{"role": "user", "content": "Hello?"}]


def ask(base_url: str, **options: Any) -> Any:
    with anthropic.Anthropic(base_url=base_url, api_key="k" * 9, max_retries=0) as client:
        reply = client.messages.create(
            model="claude-sonnet-5-5", max_tokens=9, messages=MESSAGES, **options
        )
        return list(reply) if options.get("stream") else reply


def base(proxy: Running, token: str) -> str:
    return proxy.proxy.environ(token)["ANTHROPIC_BASE_URL"]


async def assigned(proxy: Running, owner: CallOwner) -> str:
    return proxy.proxy.assign(owner)


def test_calls_belong_to_the_trial_of_their_address(start: Start) -> None:
    with ModelServer() as server:
        proxy = start(server.url)
        tokens = [proxy.do(assigned(proxy, owner)) for owner in (OWNER, ANOTHER)]
        for token in (tokens[0], tokens[1], tokens[0]):
            ask(base(proxy, token))
        ask(proxy.url)
        first = proxy.do(proxy.proxy.release(tokens[0]))
        second = proxy.do(proxy.proxy.release(tokens[1]))
        kept = proxy.recorded(4)
    assert [(call.owner, call.number) for call in first] == [(OWNER, 1), (OWNER, 2)]
    assert [(call.owner, call.number) for call in second] == [(ANOTHER, 1)]
    assert kept[3][0].owner is None
    assert all(call.path == "/v1/messages" for call, _ in kept)
    assert all(request.path.startswith("/v1/messages") for request in server.requests)


def test_the_openai_address_of_a_trial_holds_its_token_too(start: Start) -> None:
    with ModelServer() as server:
        proxy = start(server.url)
        token = proxy.do(assigned(proxy, OWNER))
        url = proxy.proxy.environ(token)["OPENAI_BASE_URL"]
        with openai.OpenAI(base_url=url, api_key="k" * 9) as client:
            client.responses.create(model="m", input="x")
        assert [call.owner for call in proxy.do(proxy.proxy.release(token))] == [OWNER]


def test_a_trial_that_is_over_calls_no_more(start: Start) -> None:
    with ModelServer([ScriptedAnswer(fault=Fault.HANG)]) as server:
        proxy = start(server.url)
        token = proxy.do(assigned(proxy, OWNER))
        url = base(proxy, token)
        failures: list[Exception] = []

        def hang() -> None:
            try:
                ask(url)
            except anthropic.APIConnectionError as error:
                failures.append(error)

        thread = threading.Thread(target=hang)
        thread.start()
        server.wait_until(lambda server: len(server.requests) == 1)
        calls = proxy.do(proxy.proxy.release(token))
        thread.join(10)
        with pytest.raises(anthropic.NotFoundError, match="it may be over"):
            ask(url)
    assert [call.problem for call in calls] == ["the trial was over"]
    assert failures


def test_calls_that_cannot_be_stored_are_no_secret(start: Start) -> None:
    with ModelServer() as server:
        proxy = start(server.url)
        token = proxy.do(assigned(proxy, OWNER))
        proxy.calls.broken = True
        assert ask(base(proxy, token)).content[0].text == "Hello!"  # the client is not to suffer
        with pytest.raises(StoreError, match="the disk is full"):
            proxy.do(proxy.proxy.release(token))
    assert proxy.log.lost == 1


class Recording:
    """Serves what it was given, by the request's canonical hash."""

    def __init__(self) -> None:
        self.answers: dict[str | None, ServedAnswer] = {}
        self.asked: list[tuple[str, DescribedRequest]] = []
        self.broken = False

    async def __call__(self, token: str, request: DescribedRequest) -> ServedAnswer | None:
        await asyncio.sleep(0)
        self.asked.append((token, request))
        if self.broken:
            raise RuntimeError("no such table")
        return self.answers.get(request.canonical)

    def keep(self, kept: list[tuple[RecordedCall, CallBody]]) -> None:
        self.answers = {call.canonical: ServedAnswer(call, body) for call, body in kept}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("encoding", [None, "gzip"])
def test_a_recorded_answer_is_served_again(
    start: Start, encoding: str | None, *, stream: bool
) -> None:
    recording = Recording()
    with ModelServer([ScriptedAnswer("Once and again.", encoding=encoding)]) as server:
        proxy = start(server.url, answer_from=recording)
        tokens = [proxy.do(assigned(proxy, owner)) for owner in (OWNER, ANOTHER)]
        first = ask(base(proxy, tokens[0]), stream=stream)
        recording.keep(list(proxy.recorded(1)))
        second = ask(base(proxy, tokens[1]), stream=stream)
        again, body = proxy.recorded(2)[1]
        assert len(server.calls) == 1
    assert first == second
    assert again.served_from == proxy.calls.kept[0][0].id
    assert (again.owner, again.status, again.streamed) == (ANOTHER, 200, stream)
    assert again.tokens == proxy.calls.kept[0][0].tokens
    assert body.response == proxy.calls.kept[0][1].response
    assert recording.asked[1][1].model == "claude-sonnet-5-5"
    assert recording.asked[1][0] == tokens[1]


def test_a_recorded_error_is_served_with_its_status(start: Start) -> None:
    recording = Recording()
    refusal = ScriptedAnswer(status=429, error="too fast", headers={"Retry-After": "9"})
    with ModelServer([refusal, ScriptedAnswer("live")]) as server:
        proxy = start(server.url, answer_from=recording)
        token = proxy.do(assigned(proxy, OWNER))
        for _ in range(2):
            with pytest.raises(anthropic.RateLimitError, match="too fast") as caught:
                ask(base(proxy, token))
            assert caught.value.response.headers["retry-after"] == "9"
            recording.keep(list(proxy.calls.kept or proxy.recorded(1)))
        served = caught.value.response.headers["x-fairtrial-served-from"]
        assert served == proxy.recorded(2)[0][0].id


def test_what_is_not_recorded_is_asked_live_and_so_is_who_is_no_trial(start: Start) -> None:
    recording = Recording()
    with ModelServer([ScriptedAnswer("live")]) as server:
        proxy = start(server.url, answer_from=recording)
        token = proxy.do(assigned(proxy, OWNER))
        assert ask(base(proxy, token)).content[0].text == "live"
        assert ask(proxy.url).content[0].text == "live"
        kept = proxy.recorded(2)
    assert len(recording.asked) == 1
    assert all(call.served_from is None for call, _ in kept)


def test_a_large_request_is_asked_live_after_a_look_at_the_recording(start: Start) -> None:
    with ModelServer([ScriptedAnswer("live")]) as server:
        proxy = start(server.url, answer_from=Recording())
        token = proxy.do(assigned(proxy, OWNER))
        ask(base(proxy, token), system="x" * 3_000_000)
        _, body = proxy.one()
    assert len(body.request) > 3_000_000


def test_a_recording_that_cannot_be_read_is_told(start: Start) -> None:
    recording = Recording()
    recording.broken = True
    with ModelServer() as server:
        proxy = start(server.url, answer_from=recording)
        token = proxy.do(assigned(proxy, OWNER))
        with pytest.raises(anthropic.InternalServerError, match="no such table"):
            ask(base(proxy, token))
        call, _ = proxy.one()
    assert call.problem is not None
    assert call.problem.startswith("the recording could not be read")
    assert call.started_at < datetime.now(UTC)

"""Kept answers: the same question is asked once, another one is another question."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

import pytest
from tests.graders.scripted import Scripted, Stopwatch

from fairtrial.model.call import (
    Api,
    Message,
    ModelCall,
    ModelReply,
    StopReason,
    Tool,
    ToolUse,
    WireCall,
)
from fairtrial.model.errors import InfraError, ProviderError, StoreError
from fairtrial.model.json import Json
from fairtrial.model.recorded_call import KeptAnswer
from fairtrial.model.task import Tokens
from fairtrial.ports import AnswerCache
from fairtrial.providers.caching import CachingProvider
from fairtrial.store.opening import open_store

CALL = ModelCall((Message("user", "hi"),), model="m", tools=(Tool("t"),))


class Counting(Scripted):
    """Answers every question with how many there were, after a turn of the loop."""

    async def complete(self, call: ModelCall) -> ModelReply:
        self.calls.append(call)
        number = len(self.calls)
        await asyncio.sleep(0)
        return ModelReply(f"{number}", "m", tokens=Tokens(input=3, output=1), cost_usd=0.5)

    async def send(self, call: WireCall) -> ModelReply:
        return await self.complete(ModelCall((Message("user", str(call.body)),)))


class Broken(AnswerCache):
    """A cache whose disk has failed."""

    def get(self, key: str) -> KeptAnswer | None:
        raise StoreError(f"the disk failed at {key}")

    def keep(self, answer: KeptAnswer, now: datetime) -> None:
        raise StoreError(f"the disk failed at {answer.key} {now}")

    def prune(
        self, now: datetime, older_than_s: float | None, largest_bytes: int | None
    ) -> tuple[int, int]:
        raise NotImplementedError

    def size(self) -> tuple[int, int]:
        raise NotImplementedError


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[AnswerCache]:
    with open_store(tmp_path) as store:
        yield store.answers


def over(inner: Scripted, answers: AnswerCache) -> CachingProvider:
    return CachingProvider("scripted", inner, answers, Stopwatch())


def asked(provider: CachingProvider, *calls: ModelCall | WireCall) -> Sequence[ModelReply]:
    async def one(call: ModelCall | WireCall) -> ModelReply:
        if isinstance(call, ModelCall):
            return await provider.complete(call)
        return await provider.send(call)

    async def all_of_them() -> Sequence[ModelReply]:
        return [await one(call) for call in calls]

    return asyncio.run(all_of_them())


def test_a_kept_answer_is_the_whole_answer_and_says_so(answers: AnswerCache) -> None:
    reply = ModelReply(
        "half \ud800",
        "m-1",
        StopReason.LENGTH,
        Tokens(1, 2, 3, None, 1),
        0.25,
        (ToolUse("1", "t", {"a": [1]}),),
        first_token_s=0.5,
    )
    inner = Scripted(reply)
    first, second = asked(over(inner, answers), CALL, CALL)
    assert first == reply
    assert second == replace(reply, cached=True, first_token_s=None)
    assert len(inner.calls) == 1
    assert asked(over(Scripted(), answers), CALL)[0] == second


@pytest.mark.parametrize("stop", [StopReason.REFUSAL, StopReason.LENGTH, StopReason.TOOL_USE])
def test_an_answer_is_kept_whatever_ended_it(answers: AnswerCache, stop: StopReason) -> None:
    replies = asked(over(Scripted(ModelReply("", "m", stop)), answers), CALL, CALL)
    assert [reply.stop for reply in replies] == [stop, stop]


@pytest.mark.parametrize("error", [InfraError("429", kind="rate_limit"), ProviderError("400")])
def test_a_failure_is_never_kept(answers: AnswerCache, error: Exception) -> None:
    provider = over(Scripted(error, "at last"), answers)
    with pytest.raises(type(error)):
        asked(provider, CALL)
    assert asked(provider, CALL, CALL)[1].text == "at last"


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (Message("user", "ho"),)},
        {"messages": (Message("user", "hi"), Message("assistant", ""))},
        {"model": None},
        {"system": ""},
        {"max_tokens": 1},
        {"temperature": 0.0},
        {"response_schema": {}},
        {"tools": ()},
        {"params": {"top_p": 1}},
        {"draw": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_question_or_draw_is_asked(answers: AnswerCache, change: dict[str, Json]) -> None:
    inner = Counting()
    asked(over(inner, answers), CALL, replace(CALL, **change))
    assert len(inner.calls) == 2


def test_another_provider_is_asked(answers: AnswerCache) -> None:
    class Other(Counting):
        @property
        def identity(self) -> Json:
            return "another"

    inner = Other()
    asked(over(Counting(), answers), CALL)
    asked(over(inner, answers), CALL)
    assert len(inner.calls) == 1


def test_how_a_mapping_is_made_is_no_part_of_the_question(answers: AnswerCache) -> None:
    inner = Counting()
    params = {"a": 1, "b": {"c": 2}}
    proxy = MappingProxyType({"b": {"c": 2}, "a": 1})
    asked(over(inner, answers), replace(CALL, params=params), replace(CALL, params=proxy))
    assert len(inner.calls) == 1


def test_a_request_in_an_apis_words_is_kept_too(answers: AnswerCache) -> None:
    inner = Counting()
    call = WireCall(Api.OPENAI_CHAT, {"model": "m"}, {"openai-beta": "x"})
    found = asked(over(inner, answers), call, call, replace(call, api=Api.ANTHROPIC_MESSAGES))
    assert [reply.cached for reply in found] == [False, True, False]


def test_a_call_that_is_to_be_recorded_is_made(answers: AnswerCache) -> None:
    inner = Counting()
    call = replace(CALL, base_url="http://127.0.0.1:1")
    wire = WireCall(Api.OPENAI_CHAT, {}, base_url="http://127.0.0.1:1")
    asked(over(inner, answers), CALL, call, call, wire, wire)
    assert len(inner.calls) == 5
    assert answers.size()[0] == 1


def test_identical_calls_that_meet_are_made_once(answers: AnswerCache) -> None:
    inner = Counting()
    provider = over(inner, answers)

    async def together() -> Sequence[ModelReply]:
        return await asyncio.gather(*(provider.complete(CALL) for _ in range(20)))

    replies = asyncio.run(together())
    assert [reply.text for reply in replies] == ["1"] * 20
    assert sum(not reply.cached for reply in replies) == len(inner.calls) == 1
    assert provider._turns == {}


def test_when_the_one_that_asks_fails_or_is_cancelled_the_next_one_asks(
    answers: AnswerCache,
) -> None:
    inner = Scripted(InfraError("down", kind="network"), "second")
    provider = over(inner, answers)

    async def together() -> Sequence[ModelReply | BaseException]:
        given_up = asyncio.ensure_future(provider.complete(replace(CALL, draw=9)))
        await asyncio.sleep(0)
        given_up.cancel()
        both = [provider.complete(CALL), provider.complete(CALL)]
        return await asyncio.gather(*both, return_exceptions=True)

    failed, found = asyncio.run(together())
    assert isinstance(failed, InfraError)
    assert isinstance(found, ModelReply)
    assert (found.text, found.cached) == ("second", False)
    assert provider._turns == {}


def test_a_store_that_fails_costs_no_answer() -> None:
    inner = Counting()
    assert [reply.text for reply in asked(over(inner, Broken()), CALL, CALL)] == ["1", "2"]


def test_what_another_version_kept_is_asked_anew(answers: AnswerCache) -> None:
    provider = over(Counting(), answers)
    answers.keep(
        KeptAnswer(provider._key(CALL), "scripted", "m", ["no", "reply"]), Stopwatch().now()
    )
    assert asked(provider, CALL)[0].text == "1"

"""Asks a model: tries again when the world fails, and once more when the answer is no answer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeVar

from fairtrial.engine.retry import tries_allowed, wait_before
from fairtrial.graders.json_values import read_json
from fairtrial.model.call import Message, ModelCall, ModelReply, StopReason
from fairtrial.model.errors import GraderError, InfraError
from fairtrial.model.json import Json
from fairtrial.model.wording import shown
from fairtrial.ports import Clock, Provider

A = TypeVar("A")

REASON_LENGTH = 2_000
"""How many characters of a model's reason are kept."""
_DRAWS = 2**40
"""More draws of one question than any caller makes: the first that only a new asking has."""
_SHOWN_OF_AN_ANSWER = 20_000
"""How many characters of an answer that cannot be used the model is shown again."""


class UnusableAnswerError(GraderError):
    """An answer that cannot be used.

    Attributes:
        told: What is wrong with it, in our words alone: the model is told this, and an answer may
            hold what an output had it say.
    """

    def __init__(self, told: str, got: str | None = None) -> None:
        super().__init__(told if got is None else f"{told} but {got}")
        self.told = told


@dataclass
class Bill:
    """What the calls of one answer add up to; a cost that is unknown once stays so.

    Attributes:
        calls: How often a model was called; answers that were kept are in `cached` instead.
        cached: How many answers were kept from an earlier call: they cost nothing now.
        cost_usd: What the calls cost.
    """

    calls: int = 0
    cached: int = 0
    cost_usd: float | None = 0.0

    def add(self, reply: ModelReply) -> None:
        """Put one reply on the bill."""
        if reply.cached:
            self.calls -= 1
            self.cached += 1
            return
        known = self.cost_usd is not None and reply.cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + (reply.cost_usd or 0.0) if known else None


@dataclass(frozen=True, slots=True)
class Asking:
    """A model that can be asked.

    Attributes:
        provider: Who runs it.
        clock: Time, for the waits before another try; None makes no other try.
        retries: How often a call is made again after an infrastructure problem.
        timeout_s: Seconds that one call may take.
        randomness: Spreads the waits.
    """

    provider: Provider
    clock: Clock | None
    retries: int
    timeout_s: float
    randomness: random.Random = field(default_factory=random.Random)

    async def answer(
        self, call: ModelCall, read: Callable[[ModelReply], A], form: str, bill: Bill
    ) -> A:
        """Return what a model answers; one that cannot be used is asked for once more.

        When neither can be used and both were kept from an earlier time, the model is asked anew:
        what is kept must not keep a question from ever being answered.

        Args:
            call: The question.
            read: Reads a reply; raises `UnusableAnswerError` when it cannot be used.
            form: What an answer looks like, for the second question.
            bill: What the calls are put on.

        Raises:
            GraderError: two answers could not be used.
            InfraError: the world failed, also when tried again.
            ProviderError: the provider refused the call.
        """
        for asked in count():
            drawn = replace(call, draw=call.draw + asked * _DRAWS)
            reply = await self._reply(drawn, bill)
            try:
                return read(reply)
            except UnusableAnswerError as error:
                repaired = await self._reply(_again(drawn, reply, error.told, form), bill)
            try:
                return read(repaired)
            except UnusableAnswerError as error:
                if not (reply.cached and repaired.cached):
                    raise GraderError(f"answered off its menu twice: {error}") from None
        raise AssertionError

    async def _reply(self, call: ModelCall, bill: Bill) -> ModelReply:
        tries = 0
        while True:
            tries += 1
            bill.calls += 1
            try:
                async with asyncio.timeout(self.timeout_s):
                    reply = await self.provider.complete(call)
            except TimeoutError:
                problem = InfraError(f"no answer within {self.timeout_s:g} s", kind="network")
            except InfraError as error:
                problem = error
            else:
                bill.add(reply)
                return reply
            wait = wait_before(problem, tries, self.randomness)
            if wait is None or self.clock is None or tries >= tries_allowed(problem, self.retries):
                raise problem
            await self.clock.sleep(wait)


def whole_text(reply: ModelReply, max_tokens: int) -> str:
    """Return the words of a reply that is a whole answer.

    Raises:
        UnusableAnswerError: the model refused, or its answer was cut.
    """
    if reply.stop is StopReason.REFUSAL:
        raise UnusableAnswerError("it refused to judge")
    if reply.stop is StopReason.LENGTH:
        raise UnusableAnswerError(f"its answer was cut at {max_tokens} tokens")
    return reply.text


def json_object(reply: ModelReply, keys: Sequence[str], max_tokens: int) -> dict[str, Json]:
    """Return the JSON object of a reply, whose keys stand in an order.

    Raises:
        UnusableAnswerError: it holds anything else.
    """
    text = whole_text(reply, max_tokens)
    try:
        value = read_json(text)
    except GraderError as error:
        raise UnusableAnswerError(str(error)) from None
    except ValueError:
        raise UnusableAnswerError("no JSON object", shown(text)) from None
    if not isinstance(value, dict) or list(value) != list(keys):
        order = " and then a ".join(keys)
        raise UnusableAnswerError(f"no object of a {order}", shown(value))
    return value


def _again(call: ModelCall, reply: ModelReply, problem: str, form: str) -> ModelCall:
    repair = (
        f"That answer cannot be used: {problem}. Answer again with one JSON object and nothing "
        f"else: {form}"
    )
    turns = (
        Message("assistant", reply.text[:_SHOWN_OF_AN_ANSWER] or "(nothing)"),
        Message("user", repair),
    )
    return replace(call, messages=(*call.messages, *turns))

"""Asks a model which of two outputs is better."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from fairtrial.engine.retry import tries_allowed, wait_before
from fairtrial.graders.pairwise.prompt import VERSION, Slot, again, question, read_answer
from fairtrial.model.call import ModelCall, ModelReply
from fairtrial.model.errors import GraderError, InfraError, ProviderError
from fairtrial.model.json import content_hash
from fairtrial.model.pairwise import Answer, Pair, PairwiseSpec, Winner
from fairtrial.model.wording import excerpt
from fairtrial.ports import Clock, Provider

REASON_LENGTH = 2_000
"""How many characters of a judge's reason are kept."""


@dataclass
class _Bill:
    """What the calls of one answer add up to; a cost that is unknown once stays so."""

    calls: int = 0
    cost_usd: float | None = 0.0

    def add(self, reply: ModelReply) -> None:
        known = self.cost_usd is not None and reply.cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + (reply.cost_usd or 0.0) if known else None


@dataclass(frozen=True, slots=True)
class PairwiseJudge:
    """A pairwise judge that can be asked.

    Attributes:
        spec: What the user wrote.
        provider: Who runs its model.
        clock: Time, for the waits before another try.
        retries: How often a call is made again after an infrastructure problem.
        new_token: Makes the word that the fences of a question bear.
    """

    spec: PairwiseSpec
    provider: Provider
    clock: Clock
    retries: int
    new_token: Callable[[], str]
    randomness: random.Random = field(default_factory=random.Random)

    def key(self, pair: Pair) -> str:
        """Return what the answers to a pair are kept under: all that could change them."""
        own = self.spec.content()
        asked = {name: own[name] for name in ("rubric", "model", "max_tokens", "temperature")}
        ground = {
            "version": VERSION,
            "provider": self.provider.identity,
            **asked,
            "input": pair.input,
            "a": pair.a,
            "b": pair.b,
        }
        return f"pairwise:{content_hash(ground)}"

    async def ask(self, pair: Pair, *, a_first: bool) -> Answer:
        """Return what the judge says of a pair in one order.

        An answer off the menu is asked for once more. Whatever goes wrong is an answer without a
        winner that says why.
        """
        outputs = (pair.a, pair.b) if a_first else (pair.b, pair.a)
        bill = _Bill()
        try:
            call = question(self.spec, pair.input, outputs, self.new_token)
            slot, reason = await self._answered(call, bill)
        except InfraError as error:
            return Answer(None, str(error), error.kind, bill.calls, bill.cost_usd)
        except (GraderError, ProviderError) as error:
            return Answer(None, str(error), None, bill.calls, bill.cost_usd)
        winner = _winner(slot, a_first=a_first)
        return Answer(winner, excerpt(reason, REASON_LENGTH), None, bill.calls, bill.cost_usd)

    async def _answered(self, call: ModelCall, bill: _Bill) -> tuple[Slot, str]:
        reply = await self._reply(call, bill)
        try:
            return read_answer(reply, call.max_tokens)
        except GraderError as error:
            repaired = await self._reply(again(call, reply, str(error)), bill)
            try:
                return read_answer(repaired, call.max_tokens)
            except GraderError as second:
                raise GraderError(f"answered off its menu twice: {second}") from None

    async def _reply(self, call: ModelCall, bill: _Bill) -> ModelReply:
        tries = 0
        while True:
            tries += 1
            bill.calls += 1
            try:
                async with asyncio.timeout(self.spec.timeout_s):
                    reply = await self.provider.complete(call)
            except TimeoutError:
                problem = InfraError(f"no answer within {self.spec.timeout_s:g} s", kind="network")
            except InfraError as error:
                problem = error
            else:
                bill.add(reply)
                return reply
            wait = wait_before(problem, tries, self.randomness)
            if wait is None or tries >= tries_allowed(problem, self.retries):
                raise problem
            await self.clock.sleep(wait)


def _winner(slot: Slot, *, a_first: bool) -> Winner:
    if slot == "tie":
        return "tie"
    return "a" if (slot == "first") == a_first else "b"

"""Asks a model which of two outputs is better."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from fairtrial.graders.asking.asking import REASON_LENGTH, Asking, Bill
from fairtrial.graders.pairwise.prompt import FORM, Slot, question, read_answer
from fairtrial.model.errors import GraderError, InfraError, ProviderError
from fairtrial.model.pairwise import Answer, Pair, PairwiseSpec, Winner
from fairtrial.model.wording import excerpt
from fairtrial.ports import Clock, Provider


@dataclass(frozen=True, slots=True)
class PairwiseJudge:
    """A pairwise judge that can be asked.

    Attributes:
        spec: What the user wrote.
        provider: Who runs its model.
        clock: Time, for the waits before another try.
        retries: How often a call is made again after an infrastructure problem.
    """

    spec: PairwiseSpec
    provider: Provider
    clock: Clock
    retries: int
    randomness: random.Random = field(default_factory=random.Random)

    async def ask(self, pair: Pair, *, a_first: bool) -> Answer:
        """Return what the judge says of a pair in one order.

        An answer off the menu is asked for once more. Whatever goes wrong is an answer without a
        winner that says why.
        """
        outputs = (pair.a, pair.b) if a_first else (pair.b, pair.a)
        bill = Bill()
        spec = self.spec
        asking = Asking(self.provider, self.clock, self.retries, spec.timeout_s, self.randomness)
        # Two equal outputs make one question of both orders; each is a draw of its own.
        draw = 0 if a_first else 1
        try:
            slot, reason = await asking.answer(
                replace(question(spec, pair.input, outputs), draw=draw),
                lambda reply: read_answer(reply, spec.max_tokens),
                FORM,
                bill,
            )
        except InfraError as error:
            return Answer(None, str(error), error.kind, bill.calls, bill.cost_usd)
        except (GraderError, ProviderError) as error:
            return Answer(None, str(error), None, bill.calls, bill.cost_usd)
        winner = _winner(slot, a_first=a_first)
        return Answer(winner, excerpt(reason, REASON_LENGTH), None, bill.calls, bill.cost_usd)


def _winner(slot: Slot, *, a_first: bool) -> Winner:
    if slot == "tie":
        return "tie"
    return "a" if (slot == "first") == a_first else "b"

"""What the model calls of a trial, as a recorder saw them, change in its record."""

from __future__ import annotations

from dataclasses import replace

from fairtrial.model.task import TaskResult
from fairtrial.ports import CallsMade


def accounted(result: TaskResult, made: CallsMade | None) -> TaskResult:
    """Return a result with what its model calls took.

    A task that says what it cost is believed, unless recorded answers were served to it: it cannot
    know that nobody was paid for them, so only its live calls count then.
    """
    if made is None or (not made.live and made.reused is None):
        return result
    if made.reused is not None:
        return replace(result, cost_usd=made.cost_usd, tokens=made.tokens, reused=made.reused)
    cost = made.cost_usd if result.cost_usd is None else result.cost_usd
    return replace(result, cost_usd=cost, tokens=result.tokens or made.tokens)

"""Which models a plan calls, read from its specs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fairtrial.engine.plan import Plan
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.ports import Prices

_CLI_KINDS = frozenset({"claude-code", "codex"})
"""Providers that put instructions of their own before every question."""
_REPORTS_COST = frozenset({"claude-code"})
_CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class ModelUse:
    """A model that the trials of an arm, or a grader, call.

    Attributes:
        where: The task or grader, in words.
        provider: The provider's spec.
        model: The model; None is the provider's own choice.
        words: What every call says, as long as its JSON.
        max_tokens: The most tokens of one answer.
        calls: Calls a trial.
    """

    where: str
    provider: Mapping[str, Json]
    model: str | None
    words: int
    max_tokens: int
    calls: int = 1

    @property
    def own_instructions(self) -> bool:
        """Whether the provider sends more than the question."""
        return self.provider["kind"] in _CLI_KINDS

    @property
    def own_price(self) -> float | None:
        """What a call costs by the provider's own options."""
        cost = self.provider.get("cost_usd")
        return float(cost) if isinstance(cost, int | float) else None

    def priced(self, prices: Prices) -> bool:
        """Return whether what a call costs will be known."""
        if self.provider["kind"] in _REPORTS_COST or self.own_price is not None:
            return True
        return self.model is not None and prices.knows(self.model)

    def cost_usd(self, prices: Prices, more: float) -> tuple[float, float] | None:
        """Return the least and the most that a trial's calls cost; None when unknown.

        Args:
            prices: What models cost.
            more: Characters that a call says beside its own words, on average.
        """
        own = self.own_price
        if own is not None:
            return self.calls * own, self.calls * own
        if self.model is None or self.own_instructions:
            return None
        read = round((self.words + more) / _CHARACTERS_A_TOKEN)
        least = prices.cost_usd(self.model, Tokens(input=read, output=1))
        most = prices.cost_usd(self.model, Tokens(input=read, output=self.max_tokens))
        if least is None or most is None:
            return None
        return self.calls * least, self.calls * most


def task_uses(plan: Plan) -> dict[str, tuple[ModelUse, ...]]:
    """Return the models that the task of each arm calls, as far as its spec tells."""
    return {
        arm.name: tuple(uses_of(f"task of arm {arm.name}", arm.task.options))
        for arm in plan.arms
        if arm.task.kind != "continuation"  # what it calls stands in its cases
    }


def grader_uses(plan: Plan) -> tuple[ModelUse, ...]:
    """Return the models that the graders call, as far as their specs tell."""
    return tuple(
        use for grader in plan.graders for use in uses_of(f"grader {grader.name}", grader.options)
    )


def critic_uses(plan: Plan) -> tuple[ModelUse, ...]:
    """Return the models that the critic of further attempts calls, as far as its spec tells."""
    return tuple(uses_of("the critic", plan.design.get("critic", {})))


def uses_of(where: str, options: Mapping[str, Json]) -> Iterator[ModelUse]:
    """Yield the models of a task's or grader's options: every kind calls them by these names."""
    members = options.get("judges") or [options]
    fixed = {name: value for name, value in options.items() if name not in ("provider", "judges")}
    for member in members:
        provider = member.get("provider")
        if isinstance(provider, str):
            provider = {"kind": provider}
        if not isinstance(provider, Mapping) or "kind" not in provider:
            continue
        yield ModelUse(
            where=where,
            provider=provider,
            model=member.get("model"),
            words=len(str(fixed)),
            max_tokens=int(options.get("max_tokens") or 1024),
            calls=int(options.get("samples") or 1),
        )

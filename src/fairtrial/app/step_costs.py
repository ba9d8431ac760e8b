"""What it costs to put recorded steps to a model again: from the usage that was recorded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fairtrial.engine.plan import Arm, Plan
from fairtrial.model.case import Case
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.ports import Prices

CONTINUATION = "continuation"
BASIS = "the usage of the recorded calls"
_CHARACTERS_A_TOKEN = 4
_LIMITS = ("max_tokens", "max_output_tokens", "max_completion_tokens")
_DEFAULT_OUTPUT = 1024


@dataclass(frozen=True, slots=True)
class StepCost:
    """What one trial costs on average.

    Attributes:
        least: As the calls were when they were recorded, their prompt cache included.
        most: With no prompt cache.
    """

    least: float
    most: float


def is_continuation(plan: Plan) -> bool:
    """Return whether all arms put recorded steps to a model."""
    return all(arm.task.kind == CONTINUATION for arm in plan.arms)


def models_of(arm: Arm, cases: Iterable[Case]) -> dict[str, None]:
    """Return the models that an arm asks, each once, in the order they come."""
    return dict.fromkeys(model for case in cases if (model := _model(arm, case)))


def cost_of_arm(arm: Arm, cases: Iterable[Case], prices: Prices) -> StepCost | str:
    """Return what a trial of an arm costs, the mean over its cases; a text says why not."""
    sums = [0.0, 0.0]
    n = 0
    for case in cases:
        model = _model(arm, case)
        if model is None:
            return f"{case.id} names no model"
        costs = [prices.cost_usd(model, tokens) for tokens in _usages(case)]
        known = [cost for cost in costs if cost is not None]
        if len(known) < len(costs):
            return f"no price is known for {model}"
        sums = [before + cost for before, cost in zip(sums, known, strict=True)]
        n += 1
    return StepCost(sums[0] / n, sums[1] / n) if n else "there is no case"


def cost_of_steps(plan: Plan, cases: Iterable[Case], prices: Prices) -> StepCost | str:
    """Return what a trial costs, the mean over arms and cases; a text says why it is unknown."""
    whole = list(cases)
    found = []
    for arm in plan.arms:
        cost = cost_of_arm(arm, whole, prices)
        if isinstance(cost, str):
            return cost
        found.append(cost)
    n = len(found)
    return StepCost(sum(one.least for one in found) / n, sum(one.most for one in found) / n)


def _model(arm: Arm, case: Case) -> str | None:
    vary = arm.task.options.get("vary") or {}
    model = vary.get("model") or _body(case).get("model")
    return model if isinstance(model, str) else None


def _body(case: Case) -> Mapping[str, Json]:
    given = case.input
    body = given.get("body") if isinstance(given, Mapping) else None
    return body if isinstance(body, Mapping) else {}


def _usages(case: Case) -> Iterator[Tokens]:
    """Yield what a call reads and writes at least, and at most."""
    told = case.metadata.get("tokens")
    if isinstance(told, Mapping) and told.get("input") is not None:
        used = Tokens(**{name: told.get(name) for name in ("input", "output")})
        cached = (told.get("cache_read") or 0, told.get("cache_write") or 0)
        yield Tokens(used.input, used.output, *cached)
        yield Tokens((used.input or 0) + sum(cached), used.output)
        return
    body = _body(case)
    read = len(json.dumps(body, default=str)) // _CHARACTERS_A_TOKEN
    limits = [body[name] for name in _LIMITS if isinstance(body.get(name), int)]
    yield Tokens(input=read, output=1)
    yield Tokens(input=read, output=limits[0] if limits else _DEFAULT_OUTPUT)

"""From the `gate` list of a spec or a file to typed rules, and their JSON Schema."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from fairtrial.analysis.gate.bounds import limit
from fairtrial.analysis.gate.release import measure_of
from fairtrial.model.errors import UsageError
from fairtrial.model.gate_rule import (
    FILTERS,
    MEASURES,
    Bound,
    DeltaBound,
    GateRule,
    RowBound,
    SpendBound,
)
from fairtrial.model.json import Json
from fairtrial.schema.decoding import decode
from fairtrial.schema.json_schema import json_schema

Rules: TypeAlias = Sequence[tuple[GateRule, Mapping[str, Json]]]
_NESTED: Mapping[type, Mapping[str, type]] = {
    GateRule: {
        "pass_rate": Bound,
        "mean": Bound,
        "every_row": RowBound,
        "undecided_rows": Bound,
        "delta": DeltaBound,
        "cost_usd": SpendBound,
        "duration_s": SpendBound,
    },
    RowBound: {"passed": Bound, "mean": Bound},
    DeltaBound: dict.fromkeys(
        ("pass_rate", "mean", "broken", "cost_ratio", "duration_ratio"), Bound
    ),
}
_SHARE = (0.0, 1.0, "a share, from 0 to 1")
_CHANGE = (-1.0, 1.0, "a difference of shares, from -1 to 1")
_AMOUNT = (0.0, math.inf, "0 or more")
_RANGES: Mapping[str, tuple[float, float, str]] = {
    "pass_rate": _SHARE,
    "every_row.passed": _SHARE,
    "undecided_rows": _AMOUNT,
    "delta.pass_rate": _CHANGE,
    "delta.broken": _AMOUNT,
    "delta.cost_ratio": _AMOUNT,
    "delta.duration_ratio": _AMOUNT,
}
"""Where the bounds of a measure make sense. Beyond it a rule is always kept, or never."""
_NO_FILTER = ("cost_usd", "duration_s")
_NO_GRADER = ("undecided_rows", "cost_usd", "duration_s")


def gate_rules(values: Any, where: str, graders: Sequence[str] | None = None) -> Rules:
    """Return the rules of a list.

    Args:
        values: The list.
        where: What it comes from, for error messages.
        graders: The graders that rules may name; None does not check.

    Raises:
        UsageError: a rule is wrong; the message says which and why.
    """
    if not isinstance(values, list | tuple):
        raise UsageError("the rules of a gate are a list of objects", where=where)
    found = []
    for i, value in enumerate(values):
        place = f"{where}[{i}]"
        rule = _decoded(GateRule, value, place)
        _check(rule, place)
        if graders is not None and rule.grader is not None and rule.grader not in graders:
            raise UsageError(
                f"there is no grader {rule.grader!r}",
                where=place,
                fix=f"name one of: {', '.join(graders)}",
            )
        found.append((rule, value))
    return tuple(found)


def _decoded(kind: type[Any], value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise UsageError(f"expected an object, got {value!r}", where=where)
    nested = _NESTED.get(kind, {})
    typed = {
        name: _decoded(nested[name], part, f"{where}.{name}")
        if name in nested and part is not None
        else part
        for name, part in value.items()
    }
    decoded = decode(kind, typed, where)
    if kind is Bound:
        _check_bound(decoded, where)
        _check_range(decoded, where.rpartition("].")[2], where)
    return decoded


def _check_bound(bound: Bound, where: str) -> None:
    given = [value for value in (bound.at_least, bound.at_most) if value is not None]
    if not given:
        raise UsageError("a bound needs 'at_least' or 'at_most'", where=where)
    for value in given:
        try:
            fine = math.isfinite(limit(value))
        except ValueError:
            fine = False
        if not fine:
            raise UsageError(
                f"{value!r} is no bound",
                where=where,
                fix='give a number, or a share such as "8/10"',
            )
    if len(given) == 2 and limit(given[0]) > limit(given[1]):
        raise UsageError("'at_least' is above 'at_most'", where=where)


def _check_range(bound: Bound, measure: str, where: str) -> None:
    low, high, words = _RANGES.get(measure, (-math.inf, math.inf, ""))
    for value in (bound.at_least, bound.at_most):
        if value is None or low <= limit(value) <= high:
            continue
        given = f"{value:g}" if isinstance(value, float) else value
        percent = limit(value) / 100
        raise UsageError(
            f"{given} is out of range",
            where=where,
            why=f"it must be {words}",
            fix=f"write {given}% as {percent:g}"
            if high == 1.0 and low <= percent <= high
            else None,
        )


def _check(rule: GateRule, where: str) -> None:
    measures = [name for name in MEASURES if getattr(rule, name) is not None]
    if len(measures) != 1:
        had = f"it has {', '.join(measures)}" if measures else f"one of {', '.join(MEASURES)}"
        raise UsageError("a rule has exactly one measure", where=where, why=had)
    measure = measures[0]
    filters = [name for name in FILTERS if getattr(rule, name) is not None]
    if filters and measure in _NO_FILTER:
        raise UsageError(
            f"{measure} is about the whole experiment: it takes no filter", where=where
        )
    if rule.grader is not None and measure in _NO_GRADER:
        raise UsageError(f"{measure} takes no 'grader'", where=where)
    if measure == "every_row":
        _exactly_one(rule.every_row, ("passed", "mean"), f"{where}.every_row")
    if measure == "delta":
        _check_delta(rule, filters, f"{where}.delta")
    if measure in _NO_FILTER:
        _check_spend(getattr(rule, measure), f"{where}.{measure}")


def _check_delta(rule: GateRule, filters: Sequence[str], where: str) -> None:
    bound = rule.delta
    names = tuple(_NESTED[DeltaBound])
    measure = _exactly_one(bound, names, where)
    if (measure == "mean") != (rule.grader is not None):
        raise UsageError("'mean' needs a 'grader', and only 'mean' takes one", where=where)
    if filters and (measure != "pass_rate" or len(filters) > 1):
        raise UsageError("only 'pass_rate' takes a filter here, and only one", where=where)
    if bound is not None and bound.by == "interval" and measure not in ("pass_rate", "mean"):
        raise UsageError(f"there is no interval of {measure}", where=where)


def _check_spend(bound: SpendBound, where: str) -> None:
    given = [value for value in dataclasses.astuple(bound) if value is not None]
    if not given or any(not 0 <= value < math.inf for value in given):
        raise UsageError("give 'total_at_most' or 'mean_at_most', at least 0", where=where)


def _exactly_one(value: Any, names: Sequence[str], where: str) -> str:
    given = [name for name in names if getattr(value, name) is not None]
    if len(given) != 1:
        raise UsageError(f"give exactly one of {', '.join(names)}", where=where)
    return given[0]


def asks_for_passes(rules: Rules) -> frozenset[str]:
    """Return the graders of which a rule asks how many trials passed them."""
    return frozenset(
        rule.grader
        for rule, _ in rules
        if rule.grader is not None
        and (rule.pass_rate is not None or (rule.every_row and rule.every_row.passed))
    )


def asks_for_baseline(rules: Rules) -> bool:
    """Return whether a rule looks at the difference to the baseline."""
    return any(measure_of(rule) == "delta" for rule, _ in rules)


def rule_schema() -> dict[str, Json]:
    """Return the JSON Schema of one rule."""
    return _schema(GateRule, "gate rule")


def _schema(kind: type, title: str) -> dict[str, Json]:
    schema = json_schema(kind, title=title, description=(kind.__doc__ or "").strip())
    for name, nested in _NESTED.get(kind, {}).items():
        described = schema["properties"][name]["description"]
        schema["properties"][name] = {**_schema(nested, name), "description": described}
    return schema

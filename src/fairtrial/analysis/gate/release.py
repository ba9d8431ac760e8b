"""The release gate: rules held against an experiment, and the decision they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from fairtrial.analysis.gate.bounds import in_words, shown
from fairtrial.analysis.gate.delta_rule import delta
from fairtrial.analysis.gate.facts import GateFacts
from fairtrial.analysis.gate.measures import (
    Measure,
    cost,
    duration,
    every_row,
    mean,
    pass_rate,
    undecided_rows,
)
from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.experiment import Status
from fairtrial.model.gate_rule import (
    FILTERS,
    MEASURES,
    DeltaBound,
    GateRule,
    RowBound,
    RuleResult,
    SpendBound,
)
from fairtrial.model.json import Json
from fairtrial.model.verdict import Cause

_MEASURES: Mapping[str, Measure] = {
    "pass_rate": pass_rate,
    "mean": mean,
    "every_row": every_row,
    "undecided_rows": undecided_rows,
    "delta": delta,
    "cost_usd": cost,
    "duration_s": duration,
}
_UNITS = {"pass_rate": "%", "passed": "%", "cost_usd": "$", "duration_s": "s"}


def evaluate(
    rules: Sequence[tuple[GateRule, Mapping[str, Json]]], facts: GateFacts
) -> tuple[RuleResult, ...]:
    """Hold every rule against the facts.

    Args:
        rules: Each rule, with what the user wrote.
        facts: The experiment.
    """
    return tuple(_result(rule, written, facts) for rule, written in rules)


def measure_of(rule: GateRule) -> str:
    """Return the name of the one measure that a rule has."""
    return next(name for name in MEASURES if getattr(rule, name) is not None)


def _result(rule: GateRule, written: Mapping[str, Json], facts: GateFacts) -> RuleResult:
    found = _MEASURES[measure_of(rule)](rule, facts)
    return RuleResult(
        name=rule.name or describe(rule),
        passed=found.passed,
        actual=found.actual,
        shown=found.shown,
        reason=found.reason,
        rows=found.rows,
        rule=written,
    )


def decide_release(results: Sequence[RuleResult], facts: GateFacts) -> Decision:
    """Return the decision that results make: one broken rule holds."""
    broken = [result for result in results if result.passed is False]
    unknown = [result for result in results if result.passed is None]
    evidence: dict[str, Json] = {
        "rules": len(results),
        "kept": len(results) - len(broken) - len(unknown),
        "broken": len(broken),
        "unknown": len(unknown),
    }
    state = facts.state
    if state.status is not Status.FINISHED:
        reason = f"the run is {state.status.value}: what the rules say so far decides nothing"
        return Decision(Outcome.NO_VERDICT, (reason,), evidence)
    if state.totals.decided <= state.totals.causes.get(Cause.TASK, 0):
        return Decision(Outcome.NO_VERDICT, ("no grader judged any output",), evidence)
    if broken:
        reasons = tuple(f"{result.name}: {result.shown}" for result in broken)
        return Decision(Outcome.HOLD, reasons, evidence)
    if unknown:
        reasons = tuple(f"{result.name}: {result.reason}" for result in unknown)
        return Decision(Outcome.TOO_FEW, reasons, evidence)
    plural = "the rule is" if len(results) == 1 else f"all {len(results)} rules are"
    return Decision(Outcome.SHIP, (f"{plural} kept",), evidence)


def describe(rule: GateRule) -> str:
    """Return a rule in words, e.g. `pass rate, condition attack: at least 90%`."""
    name = measure_of(rule)
    value = getattr(rule, name)
    if isinstance(value, SpendBound):
        what, bound = name.split("_")[0], _spend_in_words(value, _UNITS[name])
    elif name in ("every_row", "delta"):
        what, bound = _nested(name, value)
    else:
        what, bound = name.replace("_", " "), in_words(value, _UNITS.get(name, ""))
    about = f" of {rule.grader}" if rule.grader else ""
    filters = "".join(
        f", {part} {getattr(rule, part)}" for part in FILTERS if getattr(rule, part) is not None
    )
    return f"{what}{about}{filters}: {bound}"


def _nested(name: str, value: RowBound | DeltaBound) -> tuple[str, str]:
    names = [field.name for field in fields(value) if field.name != "by"]
    inner = next(part for part in names if getattr(value, part) is not None)
    bound = getattr(value, inner)
    words = inner.replace("_", " ")
    if name == "every_row":
        return f"every row {words}", in_words(bound, _UNITS.get(inner, ""))
    unit = "pp" if inner == "pass_rate" else ""
    sure = " for sure" if getattr(value, "by", "") == "interval" else ""
    return f"{words} against the baseline", in_words(bound, unit) + sure


def _spend_in_words(bound: SpendBound, unit: str) -> str:
    limits = ((bound.total_at_most, "in all"), (bound.mean_at_most, "a trial"))
    parts = [f"{shown(most, unit)} {per}" for most, per in limits if most is not None]
    return f"at most {' and '.join(parts)}"

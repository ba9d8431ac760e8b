"""Rules about the difference to the baseline, read from the comparison."""

from __future__ import annotations

from fairtrial.analysis.gate.bounds import keeps, shown
from fairtrial.analysis.gate.facts import GateFacts
from fairtrial.analysis.gate.measures import MOST_ROWS, Found, unknown
from fairtrial.model.case import CaseKey
from fairtrial.model.comparison import Change, Comparison
from fairtrial.model.delta import Delta
from fairtrial.model.gate_rule import FILTERS, Bound, DeltaBound, GateRule


def delta(rule: GateRule, facts: GateFacts) -> Found:
    """Hold the difference to the baseline against its bound."""
    bound, comparison = rule.delta, facts.comparison
    if bound is None:
        raise TypeError(rule)
    if comparison is None:
        return unknown(facts.no_comparison)
    if not comparison.comparable:
        whats = "; ".join(problem.what for problem in comparison.problems)
        return unknown(f"not comparable with the baseline: {whats or 'no row is in both'}")
    if bound.cost_ratio is not None:
        return _ratio("cost", bound.cost_ratio, comparison)
    if bound.duration_ratio is not None:
        return _ratio("duration", bound.duration_ratio, comparison)
    if facts.selection:
        # Cases that failed once pass more often the next time with no change at all.
        return unknown(facts.selection)
    return _difference(rule, bound, comparison)


def _difference(rule: GateRule, bound: DeltaBound, comparison: Comparison) -> Found:
    if bound.broken is not None:
        return _broken(bound.broken, comparison)
    found = _delta_of(rule, bound, comparison)
    wanted = bound.pass_rate or bound.mean
    if found is None or found.estimate is None or wanted is None:
        return unknown("no row with a score is in both")
    unit = "pp" if bound.pass_rate is not None else ""
    text = f"{shown(found.estimate, unit)} over {found.n:,} rows"
    if bound.by == "interval":
        if found.lower is None or found.upper is None:
            return unknown(f"there is no interval: {found.reason}")
        low, high = shown(found.lower, unit), shown(found.upper, unit)
        text += f" (95% interval {low} to {high})"
        kept = keeps(wanted, found.lower, found.upper)
    else:
        kept = keeps(wanted, found.estimate)
    rows = () if kept else _rows(comparison, Change.BROKEN, Change.REGRESSED)
    return Found(kept, found.estimate, text, None, rows)


def _delta_of(rule: GateRule, bound: DeltaBound, comparison: Comparison) -> Delta | None:
    if bound.mean is not None:
        named = ("grader", rule.grader)
        slices = comparison.graders
    else:
        given = [(name, getattr(rule, name)) for name in FILTERS if getattr(rule, name)]
        if not given:
            return comparison.delta
        named, slices = given[0], comparison.slices
    return next((part.delta for part in slices if (part.kind, part.name) == named), None)


def _broken(bound: Bound, comparison: Comparison) -> Found:
    count = comparison.counts[Change.BROKEN]
    kept = keeps(bound, count)
    text = f"{count:,} of {comparison.coverage.paired:,} rows"
    return Found(kept, count, text, None, () if kept else _rows(comparison, Change.BROKEN))


def _ratio(name: str, bound: Bound, comparison: Comparison) -> Found:
    found = next((q for q in comparison.quantities if q.name == name), None)
    if found is None or not found.a or found.b is None:
        return unknown(f"the {name} is not known on both sides")
    ratio = found.b / found.a
    return Found(keeps(bound, ratio), ratio, f"{ratio:.3g} × the baseline's")


def _rows(comparison: Comparison, *changes: Change) -> tuple[CaseKey, ...]:
    keys = [row.key for change in changes for row in comparison.rows.get(change, ())]
    return tuple(keys[:MOST_ROWS])

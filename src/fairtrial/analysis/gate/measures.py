"""The measures of rules: each turns one rule and the facts into a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fairtrial.analysis.gate.bounds import keeps, limit, shown
from fairtrial.analysis.gate.facts import GateFacts
from fairtrial.model.case import CaseKey
from fairtrial.model.gate_rule import FILTERS, Bound, GateRule, SpendBound

MOST_ROWS = 1_000
"""Rows that a result lists."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a measure found.

    Attributes:
        passed: Whether the bound is kept; None when that cannot be said.
        actual: The value.
        shown: The value in words.
        reason: Why it cannot be said, or what was left out.
        rows: The rows that broke it.
    """

    passed: bool | None
    actual: float | None = None
    shown: str = "–"
    reason: str | None = None
    rows: tuple[CaseKey, ...] = ()


Measure = Callable[[GateRule, GateFacts], Found]


def unknown(reason: str) -> Found:
    """Return that nothing can be said."""
    return Found(None, reason=reason)


def pass_rate(rule: GateRule, facts: GateFacts) -> Found:
    """Hold the pass rate against its bound."""
    return _mean_over_rows(rule, facts, _of(rule.pass_rate), facts.shares(rule), "%")


def mean(rule: GateRule, facts: GateFacts) -> Found:
    """Hold the mean score against its bound."""
    return _mean_over_rows(rule, facts, _of(rule.mean), facts.means(rule), "")


def every_row(rule: GateRule, facts: GateFacts) -> Found:
    """Hold each row against the bound."""
    wanted = rule.every_row
    if wanted is None:
        raise TypeError(rule)
    unit = "%" if wanted.passed is not None else ""
    bound = _of(wanted.passed or wanted.mean)
    values = facts.shares(rule) if wanted.passed is not None else facts.means(rule)
    if not values:
        return unknown(_no_rows(rule, facts))
    worst_first = _worst_first(bound, values)
    broke = [key for key in worst_first if not keeps(bound, values[key])]
    worst = worst_first[0]
    text = f"worst row {shown(values[worst], unit)} ({worst})"
    if broke:
        text = f"{len(broke):,} of {len(values):,} rows break it, {text}"
    return Found(
        not broke, values[worst], text, _left_out(rule, facts, values), tuple(broke[:MOST_ROWS])
    )


def undecided_rows(rule: GateRule, facts: GateFacts) -> Found:
    """Count rows without a decided trial, but for those that the platform caused."""
    bound = _of(rule.undecided_rows)
    undecided = facts.undecided(rule)
    counted = [key for key in undecided if key not in facts.platform]
    platform = len(undecided) - len(counted)
    reason = f"{platform:,} more were caused by the platform and do not count" if platform else None
    kept = keeps(bound, len(counted))
    rows = () if kept else tuple(counted[:MOST_ROWS])
    return Found(kept, len(counted), f"{len(counted):,}", reason, rows)


def cost(rule: GateRule, facts: GateFacts) -> Found:
    """Hold the cost against its bounds."""
    totals = facts.state.totals
    dearest = _dearest(facts, dict(enumerate(facts.rows.costs)))
    spent = (totals.cost_usd, totals.costed)
    return _known(_spent(rule.cost_usd), (*spent, totals.recorded), "$", dearest)


def duration(rule: GateRule, facts: GateFacts) -> Found:
    """Hold the duration against its bounds."""
    totals = facts.state.totals
    slowest = _dearest(facts, dict(enumerate(facts.rows.durations)))
    spent = (totals.duration_s, totals.timed)
    return _known(_spent(rule.duration_s), (*spent, totals.recorded), "s", slowest)


def _known(
    bound: SpendBound,
    spent: tuple[float | None, int, int],
    unit: str,
    dearest: tuple[CaseKey, ...],
) -> Found:
    """Hold a sum against its bounds; it comes with how many trials told it, of how many."""
    total, told, recorded = spent
    if not recorded:
        return unknown("no trial is on record")
    if total is None or not told:
        return unknown(f"no trial reported a {'cost' if unit == '$' else 'duration'}")
    known = f"known for {told:,} of {recorded:,} trials" if told < recorded else None
    found = _spend(bound, (total, told), unit, dearest)
    if found.passed and known is not None and bound.total_at_most is not None:
        # What is not known could be over it.
        return Found(None, found.actual, f"at least {found.shown}", known)
    return Found(found.passed, found.actual, found.shown, known, found.rows)


def _spend(
    bound: SpendBound, spent: tuple[float, int], unit: str, dearest: tuple[CaseKey, ...]
) -> Found:
    total, trials = spent
    checks = [
        (total, bound.total_at_most, f"{shown(total, unit)} in all"),
        (total / trials, bound.mean_at_most, f"{shown(total / trials, unit)} a trial"),
    ]
    asked = [(value, most, text) for value, most, text in checks if most is not None]
    over = [value for value, most, _ in asked if not keeps(Bound(at_most=most), value)]
    text = ", ".join(text for _, _, text in asked)
    actual = over[0] if over else asked[0][0]
    return Found(not over, actual, text, None, dearest if over else ())


def _dearest(facts: GateFacts, values: Mapping[int, float | None]) -> tuple[CaseKey, ...]:
    """Return the ten rows with the highest values."""
    known = [(value, place) for place, value in values.items() if value is not None]
    known.sort(key=lambda item: (-item[0], item[1]))
    rows = facts.rows
    return tuple(CaseKey(rows.case_ids[p], rows.conditions[p]) for _, p in known[:10])


def _mean_over_rows(
    rule: GateRule, facts: GateFacts, bound: Bound, values: Mapping[CaseKey, float], unit: str
) -> Found:
    if not values:
        return unknown(_no_rows(rule, facts))
    actual = sum(values.values()) / len(values)
    kept = keeps(bound, actual)
    rows: tuple[CaseKey, ...] = ()
    if not kept:
        rows = tuple(_against(bound, actual, values)[:MOST_ROWS])
    count = f"{len(values):,} row{'' if len(values) == 1 else 's'}"
    text = f"{shown(actual, unit)} over {count}"
    return Found(kept, actual, text, _left_out(rule, facts, values), rows)


def _against(bound: Bound, actual: float, values: Mapping[CaseKey, float]) -> list[CaseKey]:
    """Return the rows that pull a mean over its bound, the worst first."""
    too_low = bound.at_least is not None and actual < limit(bound.at_least)
    edge = limit(_one_of(bound, low=too_low))
    worst_first = _worst_first(Bound(at_least=edge) if too_low else Bound(at_most=edge), values)
    return [key for key in worst_first if (values[key] < edge if too_low else values[key] > edge)]


def _one_of(bound: Bound, *, low: bool) -> float | str:
    value = bound.at_least if low else bound.at_most
    return 0.0 if value is None else value


def _worst_first(bound: Bound, values: Mapping[CaseKey, float]) -> list[CaseKey]:
    """Order rows by how far they are from the bound; ties by key."""

    def distance(key: CaseKey) -> float:
        value = values[key]
        below = limit(bound.at_least) - value if bound.at_least is not None else float("-inf")
        above = value - limit(bound.at_most) if bound.at_most is not None else float("-inf")
        return -max(below, above)

    return sorted(values, key=lambda key: (distance(key), key))


def _left_out(rule: GateRule, facts: GateFacts, values: Mapping[CaseKey, float]) -> str | None:
    missing = sum(key not in values for _, key in facts.keys(rule))
    if not missing:
        return None
    what = "score" if rule.grader is not None or rule.mean is not None else "verdict"
    return f"{missing:,} row{'' if missing == 1 else 's'} without a {what} left out"


def _no_rows(rule: GateRule, facts: GateFacts) -> str:
    if next(facts.keys(rule), None) is None:
        named = [f"{name} {getattr(rule, name)}" for name in FILTERS if getattr(rule, name)]
        return f"no row has {' and '.join(named)}" if named else "no row is on record"
    what = f"a score of {rule.grader}" if rule.grader else "a verdict"
    return f"no row has {what}"


def _of(bound: Bound | None) -> Bound:
    if bound is None:
        raise TypeError(bound)
    return bound


def _spent(bound: SpendBound | None) -> SpendBound:
    if bound is None:
        raise TypeError(bound)
    return bound

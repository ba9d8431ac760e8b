"""From a comparison to a decision: the ship gate, the margin, and when neither may speak."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from fairtrial.analysis.comparing.compare import Compare
from fairtrial.analysis.comparing.needed import more_fixes_needed
from fairtrial.analysis.gate.ship import ShipRules, Validity, ship_gate
from fairtrial.analysis.noninferiority import non_inferiority
from fairtrial.analysis.paired import Ci
from fairtrial.model.case import CaseKey
from fairtrial.model.comparison import Change
from fairtrial.model.decision import Decision, Outcome
from fairtrial.stats.gate.net_gain import fewest_fixes

COVERAGE_FLOOR = 0.9
"""Share of the baseline's rows that a gate must have compared."""

Platform: TypeAlias = tuple[AbstractSet[CaseKey], AbstractSet[CaseKey]]
_NOBODY: Platform = (frozenset(), frozenset())
_STRICTEST_FIRST = (Outcome.NO_VERDICT, Outcome.TOO_FEW, Outcome.HOLD)


def gate(found: Compare, rules: ShipRules, platform: Platform = _NOBODY) -> Decision:
    """Return whether the candidate ships.

    The gate refuses (no verdict) where it would judge another thing than the change: runs that are
    not whole, rows that cannot be compared, a candidate that ran only a part of the baseline's
    cases, or too little coverage.

    Args:
        found: The comparison.
        rules: What a change must show.
        platform: Rows of A and of B all of whose undecided trials the platform caused. What it
            left without a verdict is no gap of the two arms, so it is left out of the coverage.
    """
    excused = _excused(found, platform)
    evidence = _evidence(found, excused)
    refusals = _refusals(found, excused)
    if refusals:
        refused = Decision(Outcome.NO_VERDICT, refusals, evidence)
        return _held_if_selected(refused, found)
    baseline, candidate = found.pairs.sums(found.pairs.counted)
    needed = fewest_fixes(0, rules.harm_weight, rules.alpha)
    single = min(float(baseline.trials.min()), float(candidate.trials.min())) < 2.0
    if baseline.n < (needed if single else 2):
        size = "1 case is" if baseline.n == 1 else f"{baseline.n:,} cases are"
        reason = (
            f"{size} too few: with none broken it takes {needed:,} fixed to ship"
            if single
            else "one case is too few to tell a gain from luck"
        )
        return Decision(Outcome.TOO_FEW, (reason,), evidence, ("run more cases",))
    checked = found.comparability
    counted = np.flatnonzero(found.pairs.counted)
    clusters = None if found.clusters is None else found.clusters[counted]
    decision = ship_gate(
        baseline,
        candidate,
        case_ids=[str(found.pairs.key(position)) for position in counted.tolist()],
        clusters=clusters,
        rules=rules,
        validity=Validity(
            selected_on_baseline=checked.selection is not None and not checked.raced,
            raced=checked.raced,
        ),
    )
    advice = decision.advice
    if decision.outcome is Outcome.HOLD and not single:
        more = more_fixes_needed(baseline, candidate, rules, clusters)
        if more:
            advice = (
                *advice,
                f"you would need {more:,} more cases fixed in every trial, and no more broken",
            )
    return _held_if_selected(
        replace(decision, evidence={**evidence, **decision.evidence}, advice=advice), found
    )


def margin(found: Compare, largest_loss: float, ci: Ci = "auto") -> Decision:
    """Return whether the candidate is no worse than a margin; ties do not pass for free.

    Raises:
        ArgumentError: the margin is not positive.
    """
    unjudged = tuple(problem.what for problem in found.comparability.unjudged)
    if unjudged or not found.comparison.comparable:
        return Decision(Outcome.NO_VERDICT, unjudged or _why_nothing(found), _evidence(found))
    decision = non_inferiority(found.cases, largest_loss, ci=ci)
    return _held_if_selected(
        replace(decision, evidence={**_evidence(found), **decision.evidence}), found
    )


def combined(decisions: tuple[Decision, ...]) -> Decision | None:
    """Return one decision for several gates: the change ships when it passes each of them."""
    if len(decisions) < 2:
        return decisions[0] if decisions else None
    outcome = next(
        (strict for strict in _STRICTEST_FIRST if any(d.outcome is strict for d in decisions)),
        Outcome.SHIP,
    )
    return Decision(
        outcome,
        # Those that decided come first.
        tuple(
            reason
            for decision in sorted(decisions, key=lambda d: d.outcome is not outcome)
            for reason in decision.reasons
        ),
        {key: value for decision in decisions for key, value in decision.evidence.items()},
        tuple(text for decision in decisions for text in decision.advice),
    )


def _excused(found: Compare, platform: Platform) -> int:
    """Return how many rows of A have no verdict on a side, and the platform alone is to blame."""
    pairs = found.pairs
    excused = 0
    for position in pairs.of(Change.UNDECIDED).tolist():
        key = pairs.key(position)
        missing = [
            rows
            for side, rows in zip((pairs.a, pairs.b), platform, strict=True)
            if side.decided[position] == 0
        ]
        excused += all(key in rows for rows in missing)
    return excused


def _share(found: Compare, excused: int) -> float | None:
    """Return the compared rows as a share of A's, without those that are excused."""
    counted = found.comparison.a.rows - excused
    return found.comparison.coverage.paired / counted if counted else None


def _refusals(found: Compare, excused: int) -> tuple[str, ...]:
    comparison, checked = found.comparison, found.comparability
    useless = tuple(problem.what for problem in (*checked.partial, *checked.unjudged))
    if useless:
        return useless
    if not comparison.comparable:
        return _why_nothing(found)
    dropped = comparison.counts[Change.DROPPED]
    a, b = comparison.a, comparison.b
    if dropped and a.dataset == b.dataset:
        return (
            f"{b.label} ran only a part: {dropped:,} of {a.rows:,} cases of {a.label} are missing",
        )
    share = _share(found, excused) or 0.0
    if share < COVERAGE_FLOOR:
        reason = (
            f"only {100 * share:.0f} % of the cases of {a.label} could be compared; "
            f"a gate needs {100 * COVERAGE_FLOOR:.0f} %"
        )
        if excused:
            reason += f" ({excused:,} that the platform left undecided do not count)"
        return (reason,)
    return ()


def _why_nothing(found: Compare) -> tuple[str, ...]:
    problems = tuple(problem.what for problem in found.comparison.problems)
    return problems or ("no case has a verdict on both sides",)


def _held_if_selected(decision: Decision, found: Compare) -> Decision:
    selection = found.comparability.selection
    if selection is None:
        return decision
    outcome = Outcome.HOLD if decision.outcome is Outcome.SHIP else decision.outcome
    advice = (selection.fix, *decision.advice) if selection.fix else decision.advice
    return replace(
        decision, outcome=outcome, reasons=(selection.what, *decision.reasons), advice=advice
    )


def _evidence(found: Compare, excused: int = 0) -> dict[str, object]:
    left_out = {"platform_rows": excused} if excused else {}
    return {"coverage": _share(found, excused), "coverage_floor": COVERAGE_FLOOR, **left_out}

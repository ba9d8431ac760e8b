"""After a race: may the winner be adopted?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fairtrial.analysis.paired import PairedComparison
from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.delta import Direction

_UNDECIDED = (Outcome.NO_VERDICT, Outcome.TOO_FEW)


def adopt(held_out: PairedComparison, guard: Decision) -> Decision:
    """Adopt a race's winner only when it is better on held-out cases and passes the guard gate.

    Its score in the race is no evidence: the best of several equal configurations looks better
    than it is.

    Args:
        held_out: Winner against start on cases outside the race.
        guard: The ship gate on the same or the guard cases.
    """
    better = held_out.verdict is Direction.BETTER
    ships = better and guard.outcome is Outcome.SHIP
    reasons = (held_out.describe(), *guard.reasons)
    return Decision(
        Outcome.SHIP if ships else Outcome.HOLD,
        reasons,
        {"held_out": held_out.verdict.value, "guard": guard.outcome.value, **guard.evidence},
        guard.advice,
    )


def adoption(
    held_out: PairedComparison, gate: Decision, guards: Mapping[str, Decision]
) -> Decision:
    """Decide about a winner from the held-out cases and from suites that it must not forget.

    Args:
        held_out: Winner against start on cases outside the race.
        gate: The ship gate on the same cases.
        guards: What each guard says, by its dataset; empty when none was run.
    """
    decided = adopt(held_out, gate)
    decided = replace(decided, reasons=(_held_out(held_out), *gate.reasons))
    if gate.outcome in _UNDECIDED:
        decided = replace(decided, outcome=gate.outcome, reasons=gate.reasons)
    told = {
        name: {"outcome": guard.outcome.value, **guard.evidence} for name, guard in guards.items()
    }
    evidence = {**decided.evidence, "guards": told}
    holding = {name: d for name, d in guards.items() if d.outcome is not Outcome.SHIP}
    if decided.outcome is not Outcome.SHIP or not holding:
        return replace(decided, evidence=evidence)
    undecided = any(guard.outcome is Outcome.NO_VERDICT for guard in holding.values())
    return Decision(
        Outcome.NO_VERDICT if undecided else Outcome.HOLD,
        tuple(f"guard {name}: {why}" for name, d in holding.items() for why in d.reasons),
        evidence,
        tuple(dict.fromkeys(text for guard in holding.values() for text in guard.advice)),
    )


def _held_out(found: PairedComparison) -> str:
    estimate = found.difference.estimate
    points = "" if estimate is None else f" by {100 * abs(estimate):.1f} points"
    return {
        Direction.BETTER: f"it beats the start{points} on held-out cases, more than luck explains",
        Direction.WORSE: f"it loses to the start{points} on held-out cases",
        Direction.INCONCLUSIVE: "on held-out cases luck may explain how it differs from the start",
    }[found.verdict]


def no_race(configurations: Sequence[str]) -> Decision:
    """Return the decision about a race in which too few configurations were measured.

    Args:
        configurations: Those without a verdict on any race case.
    """
    names = ", ".join(configurations)
    return Decision(
        Outcome.NO_VERDICT,
        (f"no race case has a verdict of {names}: nothing was raced",),
        {"held_out": None, "guards": {}, "without_verdict": list(configurations)},
        ("see why, and mend it: fairtrial exp show; then start the sweep again",),
    )


def start_won(start: str) -> Decision:
    """Return the decision about a race that the start itself won."""
    return Decision(
        Outcome.HOLD,
        (f"the start, {start}, won the race: there is nothing to adopt",),
        {"held_out": None, "guards": {}},
    )

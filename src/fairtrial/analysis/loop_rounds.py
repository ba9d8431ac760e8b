"""The rounds of an improvement loop, paired on the cases that they share."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from fairtrial.analysis.cases import PairedCases, paired_trials
from fairtrial.analysis.paired import PairedComparison, paired
from fairtrial.analysis.plateau import PlateauRules, Progress, plateau_of_gains
from fairtrial.model.decision import Decision
from fairtrial.stats.trials import from_counts

LEAST_SHARED = 0.5
"""Share of a round's cases that the version before it must have too, for the two to be paired."""


@dataclass(frozen=True, slots=True)
class Version:
    """One round's experiment.

    Attributes:
        id: Its id.
        name: Its name.
        cases: Passed and decided trials of each case that has a verdict.
        accepted: Whether the loop kept it, as somebody says; None lets the gate decide, which in
            a chain keeps everything.
        unusable: Why it cannot be a round; None when it can.
    """

    id: str
    name: str
    cases: Mapping[Hashable, tuple[int, int]]
    accepted: bool | None = None
    unusable: str | None = None

    @property
    def score(self) -> float | None:
        """Its mean pass rate over all of its cases; None without any."""
        return _mean(self.cases, self.cases.keys())


@dataclass(frozen=True, slots=True)
class PairedRound:
    """One version as a round of the loop.

    Attributes:
        version: The version.
        left_out: Why it is no round; None when it is one.
        against: The version it is paired with; None for the first one.
        shared: Cases that both have.
        change: Its pass rate less the other's, on those.
        gain: What the loop gained by it: a greedy loop gains nothing by what it rejects.
        kept: Whether the loop goes on from it.
    """

    version: Version
    left_out: str | None = None
    against: str | None = None
    shared: int = 0
    change: float | None = None
    gain: float | None = None
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop, paired and decided.

    Attributes:
        rounds: Every version in order, those that are left out too.
        decision: Stop, continue, or too few.
        ship: The version to ship; None when no version can be used.
        over_baseline: It beside the first version, on the cases that both have; None when it is
            the first version itself.
    """

    rounds: tuple[PairedRound, ...]
    decision: Decision
    ship: Version | None
    over_baseline: PairedComparison | None


def loop_of(versions: Sequence[Version], rules: PlateauRules) -> Loop:
    """Pair the rounds of a loop and decide whether it stops.

    A greedy loop holds each round against the version it goes on from, a chain against the one
    before. A round that has too few cases in common with that version is left out.

    Args:
        versions: The baseline, and every round after it, in order.
        rules: When to stop.
    """
    rounds: list[PairedRound] = []
    gains: list[float] = []
    bounds: list[float] = []
    base: Version | None = None
    incumbent: Version | None = None
    for version in versions:
        reason = version.unusable or (None if version.cases else "no case has a verdict")
        if reason is not None:
            rounds.append(PairedRound(version, reason))
            continue
        if incumbent is None or base is None:
            base = incumbent = version
            rounds.append(PairedRound(version, kept=True))
            continue
        found = _round(version, incumbent, rules)
        rounds.append(found)
        if found.gain is None:
            continue
        shared = version.cases.keys() & incumbent.cases.keys()
        gains.append(found.gain)
        # Known before the round is: what the incumbent leaves to be gained.
        bounds.append(min(rules.max_gain, 1.0 - (_mean(incumbent.cases, shared) or 0.0)))
        if found.kept:
            incumbent = version
    played = [found.version for found in rounds if found.left_out is None]
    kept = [found.version for found in rounds if found.kept]
    best = _best(kept, base, incumbent, rules)
    last = None if incumbent is None else incumbent.score
    progress = Progress(tuple(gains), tuple(bounds), played.index(best) if best else 0)
    decision = plateau_of_gains(progress, rules, last=last)
    over = None if best is None or base is None or best is base else _beside(base, best)
    return Loop(tuple(rounds), decision, best, over)


def _round(version: Version, incumbent: Version, rules: PlateauRules) -> PairedRound:
    shared = version.cases.keys() & incumbent.cases.keys()
    least = max(2, LEAST_SHARED * len(version.cases))
    if len(shared) < least:
        reason = (
            f"only {len(shared):,} of its {len(version.cases):,} cases are in {incumbent.name} too"
        )
        return PairedRound(version, reason, incumbent.id, len(shared))
    before, after = _mean(incumbent.cases, shared) or 0.0, _mean(version.cases, shared) or 0.0
    change = after - before
    if rules.mode == "chain":
        kept = version.accepted is not False
        gain = change if kept else 0.0
        return PairedRound(version, None, incumbent.id, len(shared), change, gain, kept)
    kept = change > 0.0 if version.accepted is None else version.accepted
    gain = max(0.0, change) if kept else 0.0
    return PairedRound(version, None, incumbent.id, len(shared), change, gain, kept)


def _best(
    kept: Sequence[Version], base: Version | None, incumbent: Version | None, rules: PlateauRules
) -> Version | None:
    """Return what ships: the last one kept, or in a chain the highest above the baseline."""
    if base is None or rules.mode == "greedy":
        return incumbent
    best, highest = base, 0.0
    for version in kept:
        shared = version.cases.keys() & base.cases.keys()
        if shared:
            above = (_mean(version.cases, shared) or 0.0) - (_mean(base.cases, shared) or 0.0)
            if above > highest:
                best, highest = version, above
    return best


def _mean(cases: Mapping[Hashable, tuple[int, int]], among: AbstractSet[Hashable]) -> float | None:
    # In the order of the version, so that the same sum is the same number.
    rates = [passed / decided for key, (passed, decided) in cases.items() if key in among]
    return float(np.mean(rates)) if rates else None


def _beside(base: Version, best: Version) -> PairedComparison | None:
    shared = [key for key in base.cases if key in best.cases]
    if not shared:
        return None
    a, b = (
        from_counts([v.cases[key][0] for key in shared], [v.cases[key][1] for key in shared])
        for v in (base, best)
    )
    cases: PairedCases = paired_trials(a, b)
    return paired(cases)

"""What pairwise judges found: wins, losses, how far to trust them, and whether B may ship."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from fairtrial.analysis.judge_agreement import JudgePanel, panel
from fairtrial.analysis.pairwise_gate import pairwise_gate
from fairtrial.analysis.winner_calibration import WinnerCalibration, calibrate_winners
from fairtrial.model.case import CaseKey
from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.pairwise import JudgedPair, PairwiseSpec, WinnerLabels
from fairtrial.stats.pairwise import Pairwise, pairwise

LEAST_JUDGED = 0.9
"""Below this share of judged pairs a judge gives no verdict: the missing ones could turn it."""


@dataclass(frozen=True, slots=True)
class PairwiseFinding:
    """One judge over all pairs.

    Attributes:
        spec: The judge.
        pairs: Its answers, in the order of the rows.
        found: Wins, losses and position bias over the pairs with both answers; None without any.
        undecided: How often each reason took a pair's answer.
        calibration: The judge against people; None when no labels were given.
    """

    spec: PairwiseSpec
    pairs: Sequence[JudgedPair]
    found: Pairwise | None
    undecided: Mapping[str, int]
    calibration: WinnerCalibration | None = None

    @property
    def judged(self) -> int:
        """Pairs with both answers."""
        return self.found.n if self.found else 0

    @property
    def calls(self) -> int:
        """How often the model was called; what was kept from an earlier time is not asked."""
        return sum(pair.a_first.calls + pair.b_first.calls for pair in self.pairs)

    @property
    def kept(self) -> int:
        """Answers that were kept from an earlier time."""
        answers = (answer for pair in self.pairs for answer in (pair.a_first, pair.b_first))
        return sum(answer.winner is not None and not answer.calls for answer in answers)

    @property
    def cost_usd(self) -> float | None:
        """What the calls cost; None when a cost is unknown."""
        answers = [a for pair in self.pairs for a in (pair.a_first, pair.b_first) if a.calls]
        costs = [answer.cost_usd for answer in answers]
        known = [cost for cost in costs if cost is not None]
        return sum(known, 0.0) if len(known) == len(costs) else None


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """All judges over the same pairs.

    Attributes:
        findings: One a judge.
        agreement: How far several judges agree; None for one.
        unknown_labels: Cases of labels that fit no pair.
    """

    findings: tuple[PairwiseFinding, ...]
    agreement: JudgePanel | None
    unknown_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class People:
    """What people said of the pairs.

    Attributes:
        winners: The winner they named, for some rows.
        test_split: The rows of the test split.
        unknown: Cases of labels that fit no pair.
    """

    winners: WinnerLabels
    test_split: Collection[CaseKey]
    unknown: tuple[str, ...] = ()


def judged_pairs(
    answers: Sequence[tuple[PairwiseSpec, Sequence[JudgedPair]]], people: People | None = None
) -> JudgedPairs:
    """Return what judges found.

    A pair without an answer in both orders is undecided, and in no count of wins, losses and ties.

    Args:
        answers: Each judge with its answers; all of them over the same rows in the same order.
        people: What people said; None calibrates nothing.
    """
    findings = tuple(_finding(spec, pairs, people) for spec, pairs in answers)
    agreement = None
    if len(findings) > 1:
        agreement = panel({f.spec.name: [p.winner for p in f.pairs] for f in findings})
    return JudgedPairs(findings, agreement, people.unknown if people else ())


def _finding(
    spec: PairwiseSpec, pairs: Sequence[JudgedPair], people: People | None
) -> PairwiseFinding:
    answers = [pair.winners for pair in pairs if pair.winners is not None]
    problems = [pair.problem for pair in pairs if pair.problem is not None]
    calibration = None
    if people is not None:
        winners = {pair.key: pair.winner for pair in pairs}
        calibration = calibrate_winners(winners, people.winners, people.test_split)
    return PairwiseFinding(
        spec,
        pairs,
        pairwise(answers) if answers else None,
        dict(Counter(problems).most_common()),
        calibration,
    )


def judges_gate(judged: JudgedPairs, *, alpha: float = 0.05) -> Decision:
    """Ship when every judge finds B better beyond luck, on nearly all pairs.

    Raises:
        ArgumentError: alpha is out of range.
    """
    short = [f for f in judged.findings if f.judged < max(1, LEAST_JUDGED * len(f.pairs))]
    if short:
        return Decision(
            Outcome.NO_VERDICT,
            tuple(_too_little(finding) for finding in short),
            {
                "judges": {
                    "judged": {f.spec.name: [f.judged, len(f.pairs)] for f in judged.findings}
                }
            },
            ("compare again: only what has no answer yet is asked",),
        )
    names = {finding.spec.name: finding.found for finding in judged.findings if finding.found}
    decision = pairwise_gate(names, alpha=alpha)
    against: list[str] = decision.evidence["against"]
    reasons = decision.reasons
    if against:
        which = "judge" if len(against) == 1 else "judges"
        reasons = (f"the {which} {', '.join(against)} did not find B better beyond luck", *reasons)
    return Decision(decision.outcome, reasons, {"judges": dict(decision.evidence)})


def _too_little(finding: PairwiseFinding) -> str:
    reason = next(iter(finding.undecided), "there is no pair to judge")
    return (
        f"judge {finding.spec.name} gave both answers for {finding.judged:,} of "
        f"{len(finding.pairs):,} pairs: {reason}"
    )

"""A judge that compares two outputs, asked in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from fairtrial.stats.checks import check_level
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.interval import how_often
from fairtrial.stats.paired.counts import PairedCounts
from fairtrial.stats.paired.mcnemar import McNemar, mcnemar
from fairtrial.stats.paired.result import PairedDifference
from fairtrial.stats.paired.tango import tango

Choice = Literal["a", "b", "tie"]


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Wins and losses of B against A, and how far the order swayed the judge.

    Attributes:
        wins: Cases where both orders chose B.
        losses: Cases where both orders chose A.
        ties: All others.
        net: (wins - losses)/n with Tango's interval.
        test: Sign test on wins against losses.
        score_b: Share of all answers for B, a tie counting half.
        consistent: Share of cases with the same answer in both orders.
        first_share: Share of all answers for the first slot, a tie counting half.
        both_first: Cases where both orders chose the first slot.
        both_second: Cases where both orders chose the second slot.
        position: (both first - both second)/n with Tango's interval.
        position_test: Sign test on the two.
        n: Cases.
        level: Confidence level.
        method: `both orders`.
    """

    wins: int
    losses: int
    ties: int
    net: PairedDifference
    test: McNemar
    score_b: float
    consistent: float
    first_share: float
    both_first: int
    both_second: int
    position: PairedDifference
    position_test: McNemar
    n: int
    level: float
    method: str = "both orders"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What casts doubt on the judge."""
        found = []
        if self.consistent < 0.7:
            found.append(
                f"only {100 * self.consistent:.0f} % of cases got the same answer in both orders"
            )
        if self.position_test.p_mid < 0.05:
            slot = "first" if self.both_first > self.both_second else "second"
            found.append(f"the judge leans to the {slot} slot (p = {self.position_test.p_mid:.2g})")
        return tuple(found)

    def describe(self) -> str:
        """Return the comparison in words."""
        text = (
            f"B wins {self.wins:,} cases, loses {self.losses:,} and ties {self.ties:,} of "
            f"{self.n:,}; with equally good arms a split this uneven would come up "
            f"{how_often(self.test.p_mid)} (sign test, mid-p)."
        )
        return " ".join([text, *(f"Beware: {warning}." for warning in self.warnings)])


def pairwise(answers: Sequence[tuple[Choice, Choice]], *, level: float = 0.95) -> Pairwise:
    """Return wins, losses and position bias from answers in both orders.

    Formula: B wins a case when both orders say B, likewise A; everything else is a tie. Sign test
    and Tango interval on wins against losses, and on both-first against both-second. Source: the
    two-order protocol of Zheng et al. 2023 (arXiv:2306.05685); tests as for paired pass/fail.

    Use it for judges that prefer one of two outputs. It lies when A and B can be told apart by
    something else than quality, e.g. length.

    Args:
        answers: For each case the answer with A first, then with B first: `a`, `b` or `tie`.
        level: Confidence level.

    Raises:
        ArgumentError: there is no case, or an answer is another word.
    """
    check_level(level)
    if not answers:
        raise ArgumentError("answers", "needs at least one case")
    for pair in answers:
        if len(pair) != 2:
            raise ArgumentError("answers", f"needs one answer for each order, not {pair!r}")
        for answer in pair:
            if answer not in get_args(Choice):
                raise ArgumentError("answers", f"must be 'a', 'b' or 'tie', not {answer!r}")
    n = len(answers)
    wins, losses = answers.count(("b", "b")), answers.count(("a", "a"))
    first, second = answers.count(("a", "b")), answers.count(("b", "a"))
    flat = [answer for pair in answers for answer in pair]
    in_first = sum((ab == "a") + (ba == "b") for ab, ba in answers)
    halves = 0.5 * flat.count("tie")
    return Pairwise(
        wins=wins,
        losses=losses,
        ties=n - wins - losses,
        net=tango(PairedCounts(0, wins, losses, n - wins - losses), level),
        test=mcnemar(wins, losses),
        score_b=(flat.count("b") + halves) / (2 * n),
        consistent=sum(ab == ba for ab, ba in answers) / n,
        first_share=(in_first + halves) / (2 * n),
        both_first=first,
        both_second=second,
        position=tango(PairedCounts(0, first, second, n - first - second), level),
        position_test=mcnemar(first, second),
        n=n,
        level=level,
    )

"""What judges are worth, against people and against each other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fairtrial.stats.agreement.confusion import (
    Confusion,
    TruePrevalence,
    confusion,
    rogan_gladen,
)
from fairtrial.stats.agreement.kappa import (
    Agreement,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.pairwise import Choice

Verdicts = Sequence[bool | None]
"""A verdict a case; None where there is none."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """One judge against human labels, on the test split.

    Attributes:
        confusion: Counts and rates; None when they share no case.
        kappa: Agreement beyond chance.
        corrected: The judge's pass rate over all its cases, corrected; None when undefined.
        reason: Why something is undefined.
    """

    confusion: Confusion | None
    kappa: Agreement
    corrected: TruePrevalence | None
    reason: str = ""

    def describe(self) -> str:
        """Return the calibration in words."""
        if self.confusion is None:
            return f"The judge cannot be calibrated: {self.reason}."
        parts = [self.confusion.describe(), self.kappa.describe()]
        parts += [self.corrected.describe()] if self.corrected else [f"{self.reason}."]
        return " ".join(parts)


def calibrate(judge: Verdicts, human: Verdicts, *, level: float = 0.95) -> Calibration:
    """Hold a judge's verdicts against human labels where both exist.

    Give it the test split only: cases the judge was tuned on flatter it.

    Raises:
        ArgumentError: the two have different numbers of cases.
    """
    if len(judge) != len(human):
        raise ArgumentError("human", f"has {len(human)} cases, the judge {len(judge)}")
    both = [(j, h) for j, h in zip(judge, human, strict=True) if j is not None and h is not None]
    kappa = cohen_kappa([j for j, _ in both], [h for _, h in both], level=level)
    if not both:
        return Calibration(None, kappa, None, "no case has both a verdict and a label")
    counts = confusion([float(j) for j, _ in both], [float(h) for _, h in both], level=level)
    if counts.tpr is None or counts.tnr is None:
        reason = "People gave only one kind of label, so the pass rate cannot be corrected"
        return Calibration(counts, kappa, None, reason)
    given = [j for j in judge if j is not None]
    corrected = rogan_gladen(sum(given), len(given), counts.tpr, counts.tnr)
    return Calibration(counts, kappa, corrected, corrected.reason)


def calibrate_pairwise(
    answers: Sequence[tuple[Choice, Choice]],
    human: Sequence[Choice | None],
    *,
    level: float = 0.95,
) -> Agreement:
    """Hold a pairwise judge's verdicts against human preferences where there are any.

    The judge's verdict is `a` or `b` when both orders agree on it, else `tie`. The result's
    `agreement` is its accuracy, its estimate kappa over the three answers.

    Args:
        answers: For each case the answer with A first, then with B first.
        human: For each case what people preferred; None where nobody was asked.
        level: Confidence level.

    Raises:
        ArgumentError: the two have different numbers of cases.
    """
    if len(answers) != len(human):
        raise ArgumentError("human", f"has {len(human)} cases, the judge {len(answers)}")
    both = [
        (ab if ab == ba else "tie", label)
        for (ab, ba), label in zip(answers, human, strict=True)
        if label is not None
    ]
    return cohen_kappa([verdict for verdict, _ in both], [label for _, label in both], level=level)


@dataclass(frozen=True, slots=True)
class JudgePanel:
    """Several judges on the same cases.

    Attributes:
        pairs: Cohen's kappa of each two judges, on the cases both judged.
        fleiss: Over cases that all judged; undefined when there are none.
        alpha: Krippendorff's alpha over all cases with two verdicts.
    """

    pairs: Mapping[tuple[str, str], Agreement]
    fleiss: Agreement
    alpha: Agreement

    def describe(self) -> str:
        """Return the panel's agreement in words."""
        return self.alpha.describe()


def panel(judges: Mapping[str, Sequence[Hashable | None]], *, level: float = 0.95) -> JudgePanel:
    """Return how far several judges agree.

    Args:
        judges: Each judge's answers, of any kind, in the same order of cases; None is missing.
        level: Confidence level.

    Raises:
        ArgumentError: there are fewer than two judges, or their numbers of cases differ.
    """
    if len(judges) < 2:
        raise ArgumentError("judges", "needs at least two")
    if len({len(v) for v in judges.values()}) > 1:
        raise ArgumentError("judges", "must have judged the same list of cases")
    pairs = {}
    for (first, a), (second, b) in combinations(judges.items(), 2):
        both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
        pairs[first, second] = cohen_kappa([x for x, _ in both], [y for _, y in both], level=level)
    complete = [u for u in zip(*judges.values(), strict=True) if None not in u]
    # A table of no case needs a column, too.
    categories = dict.fromkeys(answer for unit in complete for answer in unit) or {None: None}
    table = np.array([[unit.count(answer) for answer in categories] for unit in complete])
    return JudgePanel(
        pairs,
        fleiss_kappa(table.reshape(-1, len(categories)), level=level),
        krippendorff_alpha(list(judges.values()), level=level),
    )

"""B less A as people see it: the graders' difference, corrected by human labels of both arms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy.typing as npt

from fairtrial.analysis.cases import paired_trials
from fairtrial.analysis.judge_agreement import Calibration, calibrate
from fairtrial.analysis.label_correction import LabelCorrection, label_correction
from fairtrial.analysis.paired import PairedComparison, paired
from fairtrial.model.case import CaseKey
from fairtrial.model.delta import Direction
from fairtrial.stats.ppi.difference import CorrectedDifference, JudgedArm, judged_arm
from fairtrial.stats.trials import from_counts


@dataclass(frozen=True, slots=True)
class Judged:
    """What graders said of one row in one arm.

    Attributes:
        first: Whether the first decided trial passed: the output that people labelled.
        passed: Trials that passed.
        decided: Trials with a verdict, at least 1.
    """

    first: bool
    passed: int
    decided: int


@dataclass(frozen=True, slots=True)
class LabelCount:
    """The labels of one arm.

    Attributes:
        usable: On rows that count.
        skipped: Considered and not given.
        unused: On rows that do not count: undecided or not comparable in an arm.
    """

    usable: int
    skipped: int
    unused: int


@dataclass(frozen=True, slots=True)
class ArmLabels:
    """People's labels of one arm's outputs, for one criterion.

    Attributes:
        passes: Whether people pass the output of a row.
        skipped: How many labels were considered and not given.
    """

    passes: Mapping[CaseKey, bool]
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class LabelledDelta:
    """A difference with and without human labels.

    Attributes:
        criterion: The grader whose verdicts are corrected; None is the verdict as a whole.
        alone: The difference by the graders alone.
        correction: PPI++ and the post-stratified difference, and which to headline.
        agreement: How graders and people agree, in A and in B.
        labels: How many labels there are, in A and in B.
        least: Fewest usable labels an arm.
    """

    criterion: str | None
    alone: PairedComparison
    correction: LabelCorrection
    agreement: tuple[Calibration, Calibration]
    labels: tuple[LabelCount, LabelCount]
    least: int

    @property
    def headline(self) -> CorrectedDifference | None:
        """The corrected difference to report; None when it is refused."""
        return self.correction.headline

    @property
    def shift(self) -> float | None:
        """What the correction adds to the difference; None when it is refused."""
        if self.headline is None or self.headline.estimate is None:
            return None
        return self.headline.estimate - self.headline.judge_only

    @property
    def verdict(self) -> Direction:
        """What the corrected difference says; inconclusive when it is refused."""
        found = self.headline
        if found is None or found.interval is None or not found.interval.excludes(0.0):
            return Direction.INCONCLUSIVE
        return Direction.BETTER if found.interval.lower > 0.0 else Direction.WORSE

    @property
    def changed(self) -> str:
        """What the correction changed, in words."""
        if self.headline is None:
            return f"nothing was corrected: {self.correction.reason}"
        if self.verdict is self.alone.verdict:
            return f"B is {_WORDS[self.verdict]}, with people's labels as without"
        return f"graders alone find B {_WORDS[self.alone.verdict]}, people {_WORDS[self.verdict]}"


SHARED = (
    "both arms have the very same labels: A and B gave other outputs, so labels of one that were "
    "used for the other hide every difference; label each arm's outputs"
)
"""Said where two files hold the same."""


@dataclass(frozen=True, slots=True)
class LabelReading:
    """What people's labels came to.

    Attributes:
        deltas: One a criterion, in the order of the files.
        unknown: Cases of labels that fit no row of their arm, in A and in B.
        shared: Both files hold the very same labels, as if one had been used for both arms.
    """

    deltas: tuple[LabelledDelta, ...]
    unknown: tuple[tuple[str, ...], tuple[str, ...]]
    shared: bool = False


_WORDS = {
    Direction.BETTER: "better",
    Direction.WORSE: "worse",
    Direction.INCONCLUSIVE: "neither better nor worse beyond luck",
}


def labelled_delta(
    criterion: str | None,
    rows: Mapping[CaseKey, tuple[Judged, Judged]],
    labels: tuple[ArmLabels, ArmLabels],
    *,
    clusters: npt.ArrayLike | None = None,
    min_labels: int = 20,
) -> LabelledDelta:
    """Return the difference of two arms, corrected by labels of each arm's own outputs.

    Args:
        criterion: The grader that is corrected; None is the verdict as a whole.
        rows: What graders said of every row that counts, in A and in B.
        labels: People's labels in A and in B.
        clusters: One label a row, in the order of `rows`; None when rows are independent.
        min_labels: Fewest usable labels an arm.

    Raises:
        ArgumentError: clusters do not fit the rows.
    """
    sides = [[both[side] for both in rows.values()] for side in (0, 1)]
    baseline, candidate = (
        from_counts([s.passed for s in side], [s.decided for s in side]) for side in sides
    )
    alone = paired(paired_trials(baseline, candidate, clusters=clusters))
    arms = [_arm(list(rows), side, given) for side, given in zip(sides, labels, strict=True)]
    correction = _possible(
        label_correction(arms[0], arms[1], clusters=clusters, min_labels=min_labels)
    )
    first, second = (
        calibrate([s.first for s in side], [given.passes.get(key) for key in rows])
        for side, given in zip(sides, labels, strict=True)
    )
    counts = tuple(_count(given, rows) for given in labels)
    return LabelledDelta(
        criterion, alone, correction, (first, second), (counts[0], counts[1]), min_labels
    )


def _possible(correction: LabelCorrection) -> LabelCorrection:
    """Cut the intervals to differences that two pass rates can have."""
    ppi, post = _cut(correction.ppi), _cut(correction.post_stratified)
    headline = None
    if correction.headline is not None:
        headline = ppi if correction.headline is correction.ppi else post
    return replace(correction, ppi=ppi, post_stratified=post, headline=headline)


def _cut(found: CorrectedDifference) -> CorrectedDifference:
    if found.interval is None:
        return found
    return replace(found, interval=found.interval.clipped(-1.0, 1.0))


def _arm(keys: Sequence[CaseKey], side: Sequence[Judged], given: ArmLabels) -> JudgedArm:
    known = [given.passes.get(key) for key in keys]
    return judged_arm(
        [None if passes is None else float(passes) for passes in known],
        [s.passed / s.decided for s in side],
    )


def _count(given: ArmLabels, rows: Mapping[CaseKey, object]) -> LabelCount:
    usable = sum(key in rows for key in given.passes)
    return LabelCount(usable, given.skipped, len(given.passes) - usable)

"""A grader against people who labelled the same outputs, on the test split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from fairtrial.analysis.judge_agreement import Calibration, calibrate
from fairtrial.model.case import CaseKey
from fairtrial.model.score import Score
from fairtrial.stats.interval import Interval

ALL = "all"
"""The split that takes every labelled case."""
MIN_LABELS = 20
MIN_EACH = 5
"""Fewest labels of each kind: a share of fewer says nothing."""
GOOD = 0.8
"""Shares of what people pass and fail that a judge should recognise to stand in for them."""


class Standing(StrEnum):
    """What a judge is worth, as far as the labels show."""

    TRUSTED = "trusted"
    """Both shares are good, also at the lower end of their intervals."""
    OPEN = "open"
    """Neither is shown: more labels would tell."""
    DOUBTED = "doubted"
    """A share is below what is good, also at the upper end of its interval."""
    TOO_FEW = "too_few"
    """There are too few labels to say."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """One output with what a grader and a person say of it.

    Attributes:
        key: The case and its condition.
        split: The case's split.
        human: Whether the person passes it.
        score: The grader's score.
    """

    key: CaseKey
    split: str | None
    human: bool
    score: Score

    @property
    def differs(self) -> bool:
        """Whether the grader says the opposite of the person."""
        return self.score.passed is not None and self.score.passed != self.human


@dataclass(frozen=True, slots=True)
class Part:
    """The labelled outputs of one part of the cases.

    Attributes:
        opinions: All of them.
        calibration: What they come to.
    """

    opinions: Sequence[Opinion]
    calibration: Calibration

    @property
    def answered(self) -> int:
        """How many the grader gave a verdict for."""
        return sum(opinion.score.passed is not None for opinion in self.opinions)

    @property
    def prevalence(self) -> float | None:
        """The share that people pass; None when there are no labels."""
        passed = sum(opinion.human for opinion in self.opinions)
        return passed / len(self.opinions) if self.opinions else None


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """What labels say of a grader.

    Attributes:
        grader: Its name.
        split: The split that counts, or `all`.
        evidence: The labels that count.
        others: The labels that do not, as the grader was made on these cases; empty with `all`.
        min_labels: Fewest answered labels for a verdict.
    """

    grader: str
    split: str
    evidence: Part
    others: Part
    min_labels: int = MIN_LABELS

    @property
    def too_few(self) -> str | None:
        """Why there are too few labels; None when there are enough."""
        counts = self.evidence.calibration.confusion
        n = 0 if counts is None else counts.n
        if counts is None or n < self.min_labels:
            have = "1 label has" if n == 1 else f"{n:,} labels have"
            return f"{have} an answer of the grader, and {self.min_labels:,} are needed"
        for kind, count in (("pass", counts.tp + counts.fn), ("fail", counts.tn + counts.fp)):
            if count < MIN_EACH:
                outputs = "1 output" if count == 1 else f"{count:,} outputs"
                return f"people {kind} {outputs}, and {MIN_EACH} are needed"
        return None

    @property
    def standing(self) -> Standing:
        """What the grader is worth."""
        counts = self.evidence.calibration.confusion
        if self.too_few is not None or counts is None:
            return Standing.TOO_FEW
        spans = [span for span in (counts.tpr_interval, counts.tnr_interval) if span is not None]
        if any(span.upper < GOOD for span in spans):
            return Standing.DOUBTED
        return Standing.TRUSTED if all(span.lower >= GOOD for span in spans) else Standing.OPEN

    @property
    def sentence(self) -> str:
        """The verdict in plain words."""
        where = f"the {self.split} split"
        if self.split == ALL:
            where = "all splits, also those it was made on"
        if self.too_few is not None:
            return f"Too few labels to judge {self.grader}: on {where}, {self.too_few}."
        counts = self.evidence.calibration.confusion
        if counts is None:  # then there are too few
            raise AssertionError
        shares = (
            f"On {counts.n:,} cases of {where}, {self.grader} passes "
            f"{_share(counts.tpr, counts.tpr_interval)} of what people pass, and fails "
            f"{_share(counts.tnr, counts.tnr_interval)} of what they fail"
        )
        return f"{shares}: {self._meaning()}"

    def _meaning(self) -> str:
        match self.standing:
            case Standing.TRUSTED:
                return "it can stand in for people here."
            case Standing.DOUBTED:
                return "do not rely on it; read where it differs, and change the rubric."
        counts = self.evidence.calibration.confusion
        shares = [] if counts is None else [counts.tpr, counts.tnr]
        if all(share is not None and share >= GOOD for share in shares):
            return f"that looks right, but so few labels do not show {100 * GOOD:g} % for sure."
        return "more labels would tell whether it can be relied on."


def _share(share: float | None, interval: Interval | None) -> str:
    if share is None or interval is None:
        return "–"
    low, high = 100 * interval.lower, 100 * interval.upper
    return f"{100 * share:.0f} % ({low:.0f} to {high:.0f} %)"


def judge_calibration(
    grader: str, split: str, opinions: Sequence[Opinion], min_labels: int = MIN_LABELS
) -> JudgeCalibration:
    """Hold a grader's verdicts against people's labels.

    Only the cases of one split count: the rubric was written while looking at the others, where it
    agrees better than it will.

    Args:
        grader: The grader's name.
        split: The split that counts, or `all`.
        opinions: Every labelled output.
        min_labels: Fewest answered labels for a verdict.
    """
    inside = [one for one in opinions if split in (ALL, one.split)]
    outside = [one for one in opinions if split not in (ALL, one.split)]
    return JudgeCalibration(grader, split, _part(inside), _part(outside), min_labels)


def _part(opinions: Sequence[Opinion]) -> Part:
    judged = [opinion.score.passed for opinion in opinions]
    return Part(opinions, calibrate(judged, [opinion.human for opinion in opinions]))

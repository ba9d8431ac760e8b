"""What several trials of each case add up to; all the memory a procedure needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import FloatArray, as_aligned, as_values
from fairtrial.stats.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class TrialSums:
    """Counts and sums over the trials of each case in one arm.

    Attributes:
        trials: Finished trials of the case, at least 1.
        total: Sum of their scores; passes, when scores are 0 and 1.
        squares: Sum of their squared scores.
    """

    trials: FloatArray
    total: FloatArray
    squares: FloatArray

    @property
    def n(self) -> int:
        """Cases."""
        return self.trials.size

    @property
    def means(self) -> FloatArray:
        """Each case's mean score."""
        return self.total / self.trials

    @property
    def squared_means(self) -> FloatArray:
        """An unbiased estimate of each case's squared rate: the mean product of two trials."""
        return (self.total**2 - self.squares) / (self.trials * (self.trials - 1.0))

    @property
    def within(self) -> FloatArray:
        """Each case's variance over its trials, ddof 1."""
        return (self.squares - self.total**2 / self.trials) / (self.trials - 1.0)

    @property
    def binary(self) -> bool:
        """Whether every score is 0 or 1."""
        return bool((self.total == self.squares).all() and (self.total == self.total.round()).all())


def from_counts(passes: npt.ArrayLike, trials: npt.ArrayLike) -> TrialSums:
    """Return the sums of pass/fail trials, from passes and trials of each case.

    Raises:
        ArgumentError: lengths differ, a case has no trial, or more passes than trials.
    """
    many = as_values("trials", trials)
    hits = as_aligned("passes", passes, many)
    if many.size and float(many.min()) < 1.0:
        raise ArgumentError("trials", "needs at least one trial a case; leave out cases with none")
    if (hits < 0.0).any() or (hits > many).any():
        raise ArgumentError("passes", "must be between 0 and the case's trials")
    if (hits != np.rint(hits)).any() or (many != np.rint(many)).any():
        raise ArgumentError("passes", "and trials must be whole numbers")
    return TrialSums(many, hits, hits)


def from_scores(argument: str, scores: Iterable[Sequence[float]]) -> TrialSums:
    """Return the sums of scores given as one sequence a case; lengths may differ.

    Args:
        argument: The parameter's name, for the message.
        scores: The scores of each case's trials.

    Raises:
        ArgumentError: a case has no trial, or a score is not finite.
    """
    rows = [as_values(argument, row, least=1) for row in scores]
    return TrialSums(
        np.array([row.size for row in rows], dtype=np.float64),
        np.array([row.sum() for row in rows], dtype=np.float64),
        np.array([row @ row for row in rows], dtype=np.float64),
    )

"""Cases that two arms share, ready for a paired comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial.model.case import CaseKey
from fairtrial.model.row import Row
from fairtrial.stats.arrays import FloatArray, as_aligned, as_values
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.trials import TrialSums, from_counts


@dataclass(frozen=True, slots=True)
class PairedCases:
    """Mean scores of both arms over the cases they share.

    Attributes:
        baseline: A mean score a case.
        candidate: The same in the same order.
        trials: Mean trials a case and arm.
        single: Every case has one trial in each arm.
        binary: Scores are passed or failed.
        score_range: Highest less lowest possible score; None when unbounded.
        clusters: One label a case; None when cases are independent.
    """

    baseline: FloatArray
    candidate: FloatArray
    trials: float
    single: bool
    binary: bool
    score_range: float | None = 1.0
    clusters: npt.NDArray[np.generic] | None = None

    @property
    def n(self) -> int:
        """Shared cases."""
        return self.baseline.size

    @property
    def d(self) -> FloatArray:
        """Candidate less baseline, a case each."""
        return self.candidate - self.baseline


def paired_trials(
    baseline: TrialSums,
    candidate: TrialSums,
    *,
    clusters: npt.ArrayLike | None = None,
    score_range: float | None = 1.0,
) -> PairedCases:
    """Return the paired cases of two arms given as sums over trials.

    Raises:
        ArgumentError: the arms have different cases, or labels do not fit.
    """
    if baseline.n != candidate.n:
        raise ArgumentError("candidate", f"has {candidate.n} cases, the baseline {baseline.n}")
    trials = np.concatenate([baseline.trials, candidate.trials])
    return PairedCases(
        baseline.means,
        candidate.means,
        trials=float(trials.mean()) if trials.size else 1.0,
        single=bool((trials == 1.0).all()),
        binary=baseline.binary and candidate.binary,
        score_range=score_range,
        clusters=_labels(clusters, baseline.n),
    )


def paired_scores(
    baseline: npt.ArrayLike,
    candidate: npt.ArrayLike,
    *,
    clusters: npt.ArrayLike | None = None,
    score_range: float | None = 1.0,
) -> PairedCases:
    """Return the paired cases of two arms given as one graded score a case.

    Raises:
        ArgumentError: lengths differ, a score is not finite, or labels do not fit.
    """
    first = as_values("baseline", baseline)
    second = as_aligned("candidate", candidate, first)
    return PairedCases(
        first,
        second,
        1.0,
        single=True,
        binary=False,
        score_range=score_range,
        clusters=_labels(clusters, first.size),
    )


def _labels(clusters: npt.ArrayLike | None, n: int) -> npt.NDArray[np.generic] | None:
    if clusters is None:
        return None
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise ArgumentError("clusters", f"needs one label for each of the {n} cases")
    return labels


@dataclass(frozen=True, slots=True)
class Shared:
    """Two arms matched by case.

    Attributes:
        keys: Cases with a verdict in both arms, in the baseline's order.
        baseline: Their trials in the baseline.
        candidate: Their trials in the candidate.
        added: Cases of the candidate only.
        dropped: Cases of the baseline only.
        undecided: Cases of both that lack a verdict in at least one.
        lost: Share of trials without a verdict, baseline and candidate; None without trials.
    """

    keys: tuple[CaseKey, ...]
    baseline: TrialSums
    candidate: TrialSums
    added: tuple[CaseKey, ...]
    dropped: tuple[CaseKey, ...]
    undecided: tuple[CaseKey, ...]
    lost: tuple[float | None, float | None]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to say about trials that are missing, which may not be missing at random."""
        found = []
        first, second = self.lost
        for name, share in (("baseline", first), ("candidate", second)):
            if share is not None and share > 0.05:
                found.append(f"{100 * share:.0f} % of the {name}'s trials have no verdict")
        if first is not None and second is not None and abs(first - second) > 0.05:
            found.append("the arms lost different shares of their trials")
        return tuple(found)


def match(baseline: Mapping[CaseKey, Row], candidate: Mapping[CaseKey, Row]) -> Shared:
    """Match two arms by case and condition; nothing is imputed."""
    both = [key for key in baseline if key in candidate]
    keys = tuple(k for k in both if baseline[k].decided and candidate[k].decided)
    return Shared(
        keys=keys,
        baseline=_sums([baseline[key] for key in keys]),
        candidate=_sums([candidate[key] for key in keys]),
        added=tuple(key for key in candidate if key not in baseline),
        dropped=tuple(key for key in baseline if key not in candidate),
        undecided=tuple(k for k in both if not (baseline[k].decided and candidate[k].decided)),
        lost=(_lost(baseline), _lost(candidate)),
    )


def _sums(rows: list[Row]) -> TrialSums:
    return from_counts([row.passed for row in rows], [row.decided for row in rows])


def _lost(rows: Mapping[CaseKey, Row]) -> float | None:
    total = sum(row.decided + row.undecided for row in rows.values())
    return sum(row.undecided for row in rows.values()) / total if total else None

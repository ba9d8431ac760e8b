"""What a regrade changed."""

from __future__ import annotations

from collections.abc import Iterable

from fairtrial.model.regrade import Flip, Regrade, Unable
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Cause


def has_output(trial: Trial) -> bool:
    """Return whether a trial left an output that graders can look at.

    A task error, a time limit, infrastructure and what could not be decided left none. A grader
    that failed did, and so may a defect that was met while grading.
    """
    if trial.cause is Cause.INTERNAL:
        return trial.output is not None
    return trial.cause in (None, Cause.GRADER)


def regrade_of(pairs: Iterable[tuple[Trial, Trial]]) -> Regrade:
    """Return what changed, from pairs of the original's and the regraded trial."""
    graded = kept = 0
    flips: list[Flip] = []
    asked: dict[str, tuple[int, int, str | None]] = {}
    for before, after in pairs:
        if not has_output(before):
            kept += 1
            continue
        graded += 1
        if before.verdict is not after.verdict:
            flips.append(_flip(before, after))
        for score in after.scores:
            missing, total, reason = asked.get(score.grader, (0, 0, None))
            if score.value is None:
                missing, reason = missing + 1, reason or score.reason
            asked[score.grader] = (missing, total + 1, reason)
    unable = (Unable(grader, *found) for grader, found in asked.items() if found[0])
    return Regrade(graded, kept, tuple(flips), tuple(unable))


def _flip(before: Trial, after: Trial) -> Flip:
    return Flip(
        key=after.key,
        before=before.verdict,
        after=after.verdict,
        reason_before=before.reason,
        reason_after=after.reason,
        cause_after=after.cause,
    )

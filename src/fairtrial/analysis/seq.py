"""Seq@k: what sequential attempts came to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fairtrial.model.case import CaseKey
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Verdict
from fairtrial.stats.proportion import Rate, pass_rate


def solved_within(trial: Trial, k: int) -> bool | None:
    """Return whether a trial passed within its first k attempts.

    None when that is unknown: an attempt before has no verdict, or there was none although the
    one before had failed, since its critic could not be had.
    """
    attempts = trial.attempts[:k]
    verdicts = [attempt.verdict for attempt in attempts] or [trial.verdict]
    if Verdict.PASSED in verdicts:
        return True
    if Verdict.UNDECIDED in verdicts or len(verdicts) < k:
        return None
    return False


def solved_counts(trials: Iterable[Trial], k: int) -> dict[CaseKey, tuple[int, int]]:
    """Return for each case how many trials were solved within k attempts, of how many known."""
    found: dict[CaseKey, tuple[int, int]] = {}
    for trial in trials:
        solved = solved_within(trial, k)
        passed, known = found.get(trial.key.case_key, (0, 0))
        found[trial.key.case_key] = (passed + (solved is True), known + (solved is not None))
    return found


def seq_rate(counts: Mapping[CaseKey, tuple[int, int]], *, level: float = 0.95) -> Rate:
    """Return Seq@k over cases, from what `solved_counts` returned for that k.

    Formula: the mean over cases of the share of trials solved within k attempts, so that Seq@1 is
    the pass rate. With one trial a case the count and the interval of
    `fairtrial.stats.passk.seq_at_k`.

    Args:
        counts: (solved, known) trials of each case.
        level: Confidence level.
    """
    shapes: dict[tuple[int, int], int] = {}
    for shape in counts.values():
        shapes[shape] = shapes.get(shape, 0) + 1
    return pass_rate(shapes, level)

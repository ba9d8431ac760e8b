"""Progress, folded from events."""

from __future__ import annotations

import dataclasses

import pytest

from fairtrial.analysis.progress import Judging, Progress, eta_s
from fairtrial.model.events import (
    Judged,
    JudgingStarted,
    RunDraining,
    RunEnded,
    RunStarted,
    TrialRecorded,
    TrialRetried,
)
from fairtrial.model.experiment import Status
from fairtrial.model.task import Reused
from fairtrial.model.trial import TrialKey
from fairtrial.model.verdict import Cause, Verdict
from fairtrial.stats.proportion import wilson
from fairtrial.testing.store.facts import a_trial, an_experiment


def test_what_graders_cost_and_what_the_cache_saved_add_up() -> None:
    progress = Progress()
    reused = Reused("cache", 2, None, 0.25)
    judged = dataclasses.replace(a_trial(), grading_cost_usd=0.5, reused=reused)
    free = dataclasses.replace(judged, reused=dataclasses.replace(reused, cost_usd=None))
    for trial in (judged, free, a_trial()):
        progress.see(TrialRecorded(trial))
    assert (progress.grading_cost_usd, progress.saved_usd) == (1.0, 0.25)
    assert progress.reused == {"cache": 4}


def test_events_add_up() -> None:
    progress = Progress()
    experiment = dataclasses.replace(an_experiment(), n_cases=10)
    progress.see(RunStarted(experiment, done=4, planned=20))
    assert progress.pass_rate() is None
    passed = dataclasses.replace(a_trial(), verdict=Verdict.PASSED, cause=None, cost_usd=0.5)
    failed = dataclasses.replace(passed, verdict=Verdict.FAILED, cause=Cause.TASK, cost_usd=None)
    lost = dataclasses.replace(passed, verdict=Verdict.UNDECIDED, cause=Cause.INFRA, cost_usd=0.25)
    for trial in (passed, passed, passed, failed, lost):
        progress.see(TrialRecorded(trial))
    progress.see(TrialRetried(TrialKey("a", "default", "main", 1), 1, "429", 2.0))
    progress.see(RunDraining("asked to", 2))
    progress.see(RunEnded(Status.INTERRUPTED, "asked to"))
    assert (progress.done, progress.recorded, progress.decided) == (9, 5, 4)
    assert (progress.cost_usd, progress.retries, progress.draining) == (1.75, 1, "asked to")
    assert progress.causes == {Cause.INFRA: 1}
    assert progress.pass_rate() == (0.75, wilson(3, 4))


def test_trials_of_one_case_do_not_narrow_the_interval() -> None:
    progress = Progress()
    progress.see(RunStarted(dataclasses.replace(an_experiment(), n_cases=2), 0, 200))
    for _ in range(100):
        progress.see(TrialRecorded(dataclasses.replace(a_trial(), verdict=Verdict.PASSED)))
    assert progress.pass_rate() == (1.0, wilson(2, 2))


def test_the_time_left_follows_the_pace() -> None:
    assert eta_s(10, 30, 5.0) == pytest.approx(15.0)
    assert eta_s(0, 30, 5.0) is None


def test_judging_outside_of_a_run_is_counted_by_itself() -> None:
    progress = Progress()
    progress.see(Judged(None))  # nothing has begun
    progress.see(JudgingStarted("clarity", 3))
    for cost in (0.5, None, 0.25):
        progress.see(Judged(cost))
    assert progress.judging == Judging("clarity", 3, 3, 0.75)
    progress.see(JudgingStarted("tone", 2))
    assert progress.judging == Judging("tone", 2)
    assert progress.planned == 0

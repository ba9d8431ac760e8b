"""Facts for tests of a store, and what its aggregates must be by their definitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeAlias

from fairtrial.model.case import CaseKey
from fairtrial.model.experiment import (
    Experiment,
    GraderTotals,
    Provenance,
    ReusedTotals,
    Totals,
)
from fairtrial.model.row import Row
from fairtrial.model.score import Score
from fairtrial.model.trial import MAIN_ARM, Trial, TrialKey
from fairtrial.model.verdict import Cause, Verdict
from fairtrial.ports import DatasetStore, ExperimentStore, RowQuery

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Store(Protocol):
    """What the contracts need of a store."""

    @property
    def datasets(self) -> DatasetStore:
        """Its datasets."""
        ...

    @property
    def experiments(self) -> ExperimentStore:
        """Its experiments."""
        ...


def an_experiment(number: int = 1, **changes: object) -> Experiment:
    """Return an experiment whose id grows with `number`, with the given fields changed."""
    digits = [_CROCKFORD[number >> shift & 31] for shift in (15, 10, 5, 0)]
    usual = Experiment(
        id=f"exp_01J{''.join(digits)}{'0' * 19}",
        name="nightly",
        dataset="bugs",
        dataset_number=3,
        dataset_digest="ab" * 32,
        arms=(MAIN_ARM, "candidate"),
        trials=2,
        n_cases=4,
        seed=2**64 - 1,
        spec={"graders": [{"name": "exact"}, {"name": "judge"}], "task": {"kind": "command"}},
        policy={"concurrency": 8},
        identity="cd" * 32,
        provenance=Provenance("0.1", "3.12.1", "laptop", "/work", "e" * 40, "main", git_dirty=True),
        created_at=NOON + timedelta(seconds=number, microseconds=1),
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


def a_trial(  # the arguments that most tests vary; `changes` has the rest
    case_id: str = "case-1", number: int = 1, verdict: str = "passed", **changes: object
) -> Trial:
    """Return a trial whose scores go with its verdict, with the given fields changed."""
    passed = {"passed": True, "failed": False}.get(verdict)
    value = None if passed is None else float(passed)
    usual = Trial(
        key=TrialKey(case_id, "default", MAIN_ARM, number),
        verdict=Verdict(verdict),
        cause=Cause.GRADER if passed is None else None,
        reason=None if passed else f"{case_id} {number} {verdict}",
        score=value,
        scores=(Score("exact", value, passed, None if passed else "differs"),),
        output={"answer": case_id},
        started_at=NOON,
        duration_s=0.5,
        tries=1,
        seed=number,
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


def totals_of(trials: Sequence[Trial]) -> Totals:
    """Return the totals over trials, by the definition."""
    rows = rows_of(trials)
    verdicts = Counter(trial.verdict for trial in trials)
    costs = [trial.cost_usd for trial in trials if trial.cost_usd is not None]
    grading = [trial.grading_cost_usd for trial in trials if trial.grading_cost_usd is not None]
    times = [trial.duration_s for trial in trials if trial.duration_s is not None]
    return Totals(
        passed=verdicts[Verdict.PASSED],
        failed=verdicts[Verdict.FAILED],
        undecided=verdicts[Verdict.UNDECIDED],
        causes=dict(Counter(trial.cause for trial in trials if trial.cause is not None)),
        rows=len(rows),
        flaky_rows=sum(row.flaky for row in rows),
        cost_usd=sum(costs) if costs else None,
        costed=len(costs),
        duration_s=sum(times) if times else None,
        timed=len(times),
        grading_cost_usd=sum(grading) if grading else None,
        grading_costed=len(grading),
        reused=reused_totals_of(trials),
    )


def reused_totals_of(trials: Sequence[Trial]) -> tuple[ReusedTotals, ...]:
    """Return what trials were served again by source, by the definition."""
    totals = []
    all_reused = [trial.reused for trial in trials if trial.reused is not None]
    for source in sorted({reused.source for reused in all_reused}):
        own = [reused for reused in all_reused if reused.source == source]
        counts = [reused.tokens.total for reused in own if reused.tokens is not None]
        tokens = [count for count in counts if count is not None]
        costs = [reused.cost_usd for reused in own if reused.cost_usd is not None]
        totals.append(
            ReusedTotals(
                source=source,
                trials=len(own),
                calls=sum(reused.calls for reused in own),
                tokens=sum(tokens) if tokens else None,
                cost_usd=sum(costs) if costs else None,
                costed=len(costs),
            )
        )
    return tuple(totals)


def rows_of(trials: Sequence[Trial]) -> list[Row]:
    """Return the rows of trials by key and arm, by the definition."""
    groups: dict[tuple[CaseKey, str], list[Trial]] = {}
    for trial in sorted(trials, key=lambda trial: trial.key):
        groups.setdefault((trial.key.case_key, trial.key.arm), []).append(trial)
    return [_row(key, arm, group) for (key, arm), group in groups.items()]


def _row(key: CaseKey, arm: str, trials: Sequence[Trial]) -> Row:
    verdicts = Counter(trial.verdict for trial in trials)
    scores = [trial.score for trial in trials if trial.score is not None]
    costs = [trial.cost_usd for trial in trials if trial.cost_usd is not None]
    times = [trial.duration_s for trial in trials if trial.duration_s is not None]
    not_passed = [trial for trial in trials if trial.verdict is not Verdict.PASSED]
    return Row(
        key=key,
        arm=arm,
        passed=verdicts[Verdict.PASSED],
        failed=verdicts[Verdict.FAILED],
        undecided=verdicts[Verdict.UNDECIDED],
        score_sum=sum(scores) if scores else None,
        scored=len(scores),
        duration_s=sum(times) if times else None,
        timed=len(times),
        cost_usd=sum(costs) if costs else None,
        first_reason=not_passed[0].reason if not_passed else None,
    )


def grader_totals_of(trials: Sequence[Trial], graders: Sequence[str]) -> list[GraderTotals]:
    """Return the totals of graders over trials, by the definition."""
    totals = []
    for grader in graders:
        scores = [score for trial in trials for score in trial.scores if score.grader == grader]
        values = [score.value for score in scores if score.value is not None]
        totals.append(
            GraderTotals(
                grader=grader,
                scored=len(values),
                total=len(scores),
                mean=sum(values) / len(values) if values else None,
                passed=sum(score.passed is True for score in scores),
            )
        )
    return totals


def assert_aggregates(
    store: ExperimentStore, experiment: Experiment, trials: Sequence[Trial]
) -> None:
    """Assert that all that is kept about an experiment is what its trials say."""
    assert list(store.trials(experiment.id)) == sorted(trials, key=lambda trial: trial.key)
    assert store.recorded_keys(experiment.id) == {trial.key for trial in trials}
    totals, expected_totals = store.find(experiment.id).totals, totals_of(trials)
    for told, reused in zip(totals.reused, expected_totals.reused, strict=True):
        _assert_close(told, reused)
    _assert_close(replace(totals, reused=()), replace(expected_totals, reused=()))
    rows = rows_of(trials)
    for kept, expected in zip(
        store.rows(experiment.id, RowQuery(limit=len(rows) + 1)), rows, strict=True
    ):
        _assert_close(kept, expected)
    names = [grader["name"] for grader in experiment.spec["graders"]]
    for kept_grader, expected_grader in zip(
        store.grader_totals(experiment.id), grader_totals_of(trials, names), strict=True
    ):
        _assert_close(kept_grader, expected_grader)
    alone = store.grader_totals(experiment.id)
    assert list(store.grader_totals_of([experiment.id, experiment.id])) == [alone, alone]
    outcomes = Counter((row.passed, row.decided) for row in rows)
    assert store.outcome_counts(experiment.id) == outcomes


_Facts: TypeAlias = Totals | ReusedTotals | Row | GraderTotals


def _assert_close(kept: _Facts, expected: _Facts) -> None:
    for name in expected.__slots__:
        value = getattr(expected, name)
        told = getattr(kept, name)
        same = (
            math.isclose(told, value, rel_tol=1e-9, abs_tol=1e-12)
            if isinstance(value, float) and isinstance(told, float)
            else told == value
        )
        assert same, f"{name} is {told}, not {value}"

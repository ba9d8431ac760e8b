"""Two experiments without a store: rows, arms and states for comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from fairtrial.analysis.comparing.comparability import Input
from fairtrial.analysis.comparing.compare import Compare, compare
from fairtrial.model.case import CaseKey
from fairtrial.model.columns import ArmColumns, CaseLabels, GraderColumns, PairedRows
from fairtrial.model.experiment import (
    Experiment,
    ExperimentState,
    Provenance,
    Status,
    Totals,
)
from fairtrial.model.verdict import Cause

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
EXACT: Mapping[str, Any] = {"name": "exact", "kind": "exact", "required": True}
Trials = Mapping[str, tuple[int, int]]
"""Passed and decided trials by case id."""


def arm(
    trials: Trials,
    *,
    undecided: Mapping[str, int] | None = None,
    graders: Mapping[str, Mapping[str, float]] | None = None,
    **columns: Sequence[Any],
) -> ArmColumns:
    """Return an arm whose only grader, unless told, is the verdict itself."""
    ids = list(trials)
    lost = undecided or {}
    rates = {case: passed / decided for case, (passed, decided) in trials.items() if decided}
    n = len(ids)
    usual: dict[str, Sequence[Any]] = {
        "case_ids": ids,
        "conditions": ["default"] * n,
        "passed": [trials[case][0] for case in ids],
        "failed": [trials[case][1] - trials[case][0] for case in ids],
        "undecided": [lost.get(case, 0) for case in ids],
        "scores": [rates.get(case) for case in ids],
        "durations": [1.0] * n,
        "costs": [None] * n,
        "tokens": [None] * n,
        "reasons": [f"{case} differs" if rates.get(case, 0.0) < 1.0 else None for case in ids],
    }
    scored = graders if graders is not None else {"exact": rates}
    n_trials = sum(decided for _, decided in trials.values())
    return ArmColumns(
        **{**usual, **columns},
        graders={name: grader(ids, means, n_trials) for name, means in scored.items()},
        causes={Cause.INFRA: sum(lost.values())} if lost else {},
    )


def grader(ids: Sequence[str], means: Mapping[str, float], n: int) -> GraderColumns:
    """Return a grader's means."""
    rows = [place for place, case in enumerate(ids) if case in means]
    values = [means[ids[place]] for place in rows]
    return GraderColumns(
        rows,
        values,
        n,
        min(values, default=0.0),
        max(values, default=0.0),
        binary=all(value in (0.0, 1.0) for value in values),
    )


def paired(
    a: ArmColumns,
    b: ArmColumns,
    *,
    changed: Sequence[str] = (),
    labels: Mapping[str, CaseLabels] | None = None,
) -> PairedRows:
    """Join two arms by case id and condition."""
    keys_a = list(zip(a.case_ids, a.conditions, strict=True))
    keys_b = list(zip(b.case_ids, b.conditions, strict=True))
    both = [key for key in keys_a if key in set(keys_b)]
    return PairedRows(
        a,
        b,
        ([keys_a.index(key) for key in both], [keys_b.index(key) for key in both]),
        [place for place, key in enumerate(keys_a) if key not in set(keys_b)],
        [place for place, key in enumerate(keys_b) if key not in set(keys_a)],
        frozenset(CaseKey(case) for case in changed),
        {CaseKey(case): label for case, label in (labels or {}).items()},
    )


def side(
    label: str, *, status: Status = Status.FINISHED, recorded: int = 0, **changes: Any
) -> Input:
    """Return one side of a comparison."""
    usual: dict[str, Any] = {
        "id": f"exp_{label}",
        "name": label,
        "dataset": "bugs",
        "dataset_number": 1,
        "dataset_digest": "ab" * 32,
        "arms": ("main",),
        "trials": 3,
        "n_cases": 40,
        "seed": 1,
        "spec": {"graders": [EXACT]},
        "policy": {"trial_timeout": None},
        "identity": "cd" * 32,
        "provenance": Provenance("0.1", "3.12", "laptop", "/work"),
        "created_at": NOON,
    }
    experiment = Experiment(**{**usual, **changes})
    totals = Totals(passed=recorded)
    state = ExperimentState(experiment, status, None, totals, NOON, NOON)
    return Input(state, "main", label)


def compared(a: Trials, b: Trials, **options: Any) -> Compare:
    """Compare two arms of finished experiments."""
    return compare(side("base"), side("cand"), paired(arm(a), arm(b)), **options)


def cases(passed: Sequence[int], decided: int) -> Trials:
    """Return so many cases with as many decided trials each."""
    return {f"c{number:04}": (count, decided) for number, count in enumerate(passed)}

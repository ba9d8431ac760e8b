"""From rows that another program sent to trials: each with its case, its scores and its verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import UNSET

from fairtrial.analysis.verdict import decide, grading_cost, score_missing, score_of
from fairtrial.app.bench import Bench
from fairtrial.app.reported_bodies import ReportedProblem, ReportedRow, ReportedScore
from fairtrial.interchange.dataset_files.assembling import Assembler
from fairtrial.interchange.dataset_files.columns import Columns, Extra
from fairtrial.model.case import Case, CaseKey, case_id_of
from fairtrial.model.errors import (
    GraderError,
    InfraError,
    TaskError,
    TrialProblem,
    TrialTimeout,
    Undecidable,
    UsageError,
)
from fairtrial.model.experiment import Experiment
from fairtrial.model.grader import Grade, GraderSpec
from fairtrial.model.json import canonical_json
from fairtrial.model.reported import NEXT_TRIAL, REPORTED, ReportedTrial
from fairtrial.model.score import Score
from fairtrial.model.task import Tokens
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.schema.decoding import unknown_name

_THRESHOLD: Final = 0.5
_PROBLEMS: Final[Mapping[str, Callable[[str], TrialProblem]]] = {
    "task": TaskError,
    "limit": TrialTimeout,
    "infra": lambda reason: InfraError(reason, kind="server"),
    "undecidable": Undecidable,
    "grader": GraderError,
}


def grader_of(stored: Mapping[str, Any]) -> GraderSpec:
    """Return a grader that scored elsewhere, as a spec has it."""
    return GraderSpec(
        kind=REPORTED,
        name=stored["name"],
        negate=stored.get("not", False),
        weight=stored["weight"],
        threshold=stored["threshold"],
        required=stored["required"],
    )


class RowReader:
    """Reads the rows of one experiment."""

    def __init__(self, bench: Bench, experiment: Experiment) -> None:
        self._bench = bench
        self._experiment = experiment
        self._graders = tuple(map(grader_of, experiment.spec["graders"]))
        self._assembler = Assembler(Columns(), extra=Extra.ERROR)

    def read(self, rows: Sequence[ReportedRow], now: datetime) -> list[ReportedTrial]:
        """Return rows as trials.

        Raises:
            UsageError: a row does not fit; `where` says which.
        """
        found = []
        cases = self._gathered(rows) if self._gathers else self._matched(rows)
        for place, (row, case) in enumerate(zip(rows, cases, strict=True)):
            try:
                found.append(ReportedTrial(case, self._trial(row, case.key, now)))
            except UsageError as error:
                error.where = f"rows[{place}]"
                raise
        return found

    @property
    def _gathers(self) -> bool:
        return self._experiment.dataset_number < 0

    def _gathered(self, rows: Sequence[ReportedRow]) -> list[Case]:
        """Return the cases that rows bring with them."""
        cases = []
        for place, row in enumerate(rows):
            where = f"rows[{place}]"
            if row.input is UNSET:
                fix = "give the input of its case"
                raise UsageError("the row has no input", where=where, fix=fix)
            try:
                cases.append(self._assembler.assemble(_content(row)))
            except UsageError as error:
                error.where = where
                raise
        return cases

    def _matched(self, rows: Sequence[ReportedRow]) -> list[Case]:
        """Return stored cases that rows are of: by id, else by their input."""
        datasets = self._bench.store.datasets
        experiment = self._experiment
        version = datasets.version(f"{experiment.dataset}@{experiment.dataset_number}")
        ids = {row.id for row in rows if row.id is not None}
        hashes = {
            case_id_of(row.input) for row in rows if row.id is None and row.input is not UNSET
        }
        positions = [
            one.position for one in datasets.outline(version) if one.id in ids or one.id in hashes
        ]
        known = {case.key: case for case in datasets.cases(version, positions)}
        named = {case_id for case_id, _ in known}
        if hashes - named:  # its cases have ids of their own
            for case in datasets.cases(version):
                digest = case_id_of(case.input)
                if digest in hashes:
                    known.setdefault(CaseKey(digest, case.condition), case)
        return [self._stored(row, place, known) for place, row in enumerate(rows)]

    def _stored(self, row: ReportedRow, place: int, known: Mapping[CaseKey, Case]) -> Case:
        where = f"rows[{place}]"
        if row.id is None and row.input is UNSET:
            raise UsageError("the row has neither id nor input", where=where)
        key = CaseKey(row.id if row.id is not None else case_id_of(row.input), row.condition)
        case = known.get(key)
        if case is None:
            what = f"case {key}" if row.id is not None else "a case with this input"
            of = f"{self._experiment.dataset}@{self._experiment.dataset_number}"
            raise UsageError(f"there is no {what.removeprefix('a ')} in {of}", where=where)
        if row.input is not UNSET and canonical_json(row.input) != canonical_json(case.input):
            raise UsageError(
                f"case {key} has another input in the dataset",
                where=where,
                fix="leave out its input, or its id",
            )
        return case

    def _trial(self, row: ReportedRow, case: CaseKey, now: datetime) -> Trial:
        experiment = self._experiment
        arm = row.arm or experiment.arms[-1]
        if arm not in experiment.arms:
            raise UsageError(unknown_name(arm, experiment.arms, "arm "))
        problem = None if row.problem is None else _problem(row.problem)
        graded = problem is None or (isinstance(problem, TrialTimeout) and bool(row.scores))
        scores = self._scores(row.scores) if graded else ()
        ruling = decide(problem, scores)
        return Trial(
            key=TrialKey(*case, arm, row.trial or NEXT_TRIAL),
            verdict=ruling.verdict,
            cause=ruling.cause,
            reason=ruling.reason,
            score=ruling.score,
            scores=scores,
            output=row.output,
            started_at=row.started_at or now,
            duration_s=row.duration_s,
            tries=1,
            seed=0,
            cost_usd=row.cost_usd,
            tokens=None if row.tokens is None else Tokens(**msgspec.structs.asdict(row.tokens)),
            metrics=row.metrics,
            spans=tuple(row.spans),
            at_fault=ruling.at_fault,
            grading_cost_usd=grading_cost(scores),
        )

    def _scores(self, given: Mapping[str, ReportedScore | float | None]) -> tuple[Score, ...]:
        names = [spec.name for spec in self._graders]
        for name in given:
            if name not in names:
                raise UsageError(unknown_name(name, names, "grader "))
        return tuple(_score(spec, given.get(spec.name)) for spec in self._graders)


def _content(row: ReportedRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "input": row.input,
        "expected": row.expected,
        "metadata": dict(row.metadata),
        "tags": list(row.tags),
        "split": row.split,
        "condition": row.condition,
    }


def _score(spec: GraderSpec, given: ReportedScore | float | None) -> Score:
    if given is None:
        return replace(score_missing(spec, "no score was reported"), cost_usd=None)
    if not isinstance(given, ReportedScore):
        given = ReportedScore(given)
    value = None if given.value is None else float(given.value)
    reason = given.reason
    if spec.negate and value is not None and reason is None:
        reason = f"{value:g}, and less is better"
    return score_of(spec, Grade(value, reason, given.cost_usd), _THRESHOLD)


def _problem(given: ReportedProblem) -> TrialProblem:
    return _PROBLEMS[given.cause](given.reason)

"""The human labels of `exp compare`: B − A corrected by what people say of each arm's outputs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from fairtrial.analysis.comparing.comparability import Input
from fairtrial.analysis.comparing.compare import Compare
from fairtrial.analysis.labelled_delta import (
    ArmLabels,
    Judged,
    LabelReading,
    labelled_delta,
)
from fairtrial.analysis.labels import match_labels
from fairtrial.app.bench import Bench
from fairtrial.app.counted_trials import counted_rows, decided_trials
from fairtrial.app.judging_options import HumanLabels
from fairtrial.interchange.label_files import read_human_labels
from fairtrial.model.case import CaseKey
from fairtrial.model.columns import ArmColumns
from fairtrial.model.errors import UsageError
from fairtrial.model.label import HumanLabel
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Verdict
from fairtrial.schema.decoding import unknown_name

MIN_LABELS = 20

Criterion: TypeAlias = str | None
"""A grader's name; None is the verdict as a whole."""
Files: TypeAlias = tuple[Sequence[HumanLabel], Sequence[HumanLabel]]


def label_files(bench: Bench, options: HumanLabels) -> Files | None:
    """Return the labels of both arms; None when none are given.

    Raises:
        UsageError: only one file is given, one file for both, or a label makes no sense.
        NotFoundError: a file does not exist.
    """
    paths = _paths(bench, options)
    if paths is None:
        return None
    return read_human_labels(paths[0]), read_human_labels(paths[1])


def corrected(
    bench: Bench,
    found: Compare,
    sides: tuple[Input, Input],
    files: Files,
    min_labels: int | None,
) -> LabelReading:
    """Return B − A with the labels taken into account, one a criterion.

    Raises:
        UsageError: a label names an unknown grader, or fits several rows.
    """
    criteria = _criteria(files, sides)
    keys = counted_rows(found)
    judged = [_judged(decided_trials(bench, side), keys, criteria) for side in sides]
    columns = (found.pairs.rows.a, found.pairs.rows.b)
    arms = [_arm_labels(*pair) for pair in zip(files, columns, strict=True)]
    deltas = []
    for criterion in criteria:
        rows = {
            key: (judged[0][criterion, key], judged[1][criterion, key])
            for key in keys
            if all((criterion, key) in side for side in judged)
        }
        codes = found.clusters
        none = ArmLabels({})
        deltas.append(
            labelled_delta(
                criterion,
                rows,
                (arms[0].labels.get(criterion, none), arms[1].labels.get(criterion, none)),
                clusters=None if codes is None else codes[[keys[key] for key in rows]],
                min_labels=MIN_LABELS if min_labels is None else min_labels,
            )
        )
    return LabelReading(tuple(deltas), (arms[0].unknown, arms[1].unknown), _are_shared(files))


def _are_shared(files: Files) -> bool:
    """Return whether both arms have the very same labels, whatever their order."""
    first, second = (
        {(label.case_id, label.condition, label.criterion, label.value) for label in labels}
        for labels in files
    )
    return first == second


def _paths(bench: Bench, options: HumanLabels) -> tuple[Path, Path] | None:
    given = (options.labels_a, options.labels_b)
    if given == (None, None):
        if options.min_labels is not None:
            raise UsageError(
                "--min-labels has no effect without --labels-a and --labels-b",
                fix="give the labels of both arms",
            )
        return None
    if given[0] is None or given[1] is None:
        there, missing = ("--labels-a", "--labels-b") if given[0] else ("--labels-b", "--labels-a")
        raise UsageError(
            f"{there} needs {missing}",
            why="A and B gave other outputs, so labels of one say nothing about the other",
            fix=f"label some outputs of the other arm too, and give them with {missing}",
        )
    first, second = bench.path(given[0]), bench.path(given[1])
    if os.path.realpath(first) == os.path.realpath(second) or _is_same(first, second):
        raise UsageError(
            "--labels-a and --labels-b are one file",
            where=str(first),
            why="A and B gave other outputs: shared labels would hide every difference",
            fix="label each arm's outputs in a file of its own",
        )
    return first, second


def _is_same(first: Path, second: Path) -> bool:
    return first.exists() and second.exists() and first.samefile(second)


def _criteria(files: Files, sides: tuple[Input, Input]) -> Sequence[Criterion]:
    """Return the criteria of the labels, in their order.

    Raises:
        UsageError: one is no grader of both experiments.
    """
    graders = [_graders(side) for side in sides]
    criteria: dict[Criterion, None] = {}
    for label in (label for labels in files for label in labels):
        name = label.criterion
        if name is not None and not all(name in names for names in graders):
            known = [known for known in graders[0] if known in graders[1]]
            raise UsageError(
                unknown_name(name, known, "criterion "),
                where=label.where,
                why="a criterion is the name of a grader that both experiments have",
            )
        criteria[name] = None
    return list(criteria)


def _graders(side: Input) -> Collection[str]:
    return [str(grader["name"]) for grader in side.state.experiment.spec.get("graders") or ()]


def _judged(
    trials: Iterable[Trial], keys: Collection[CaseKey], criteria: Sequence[Criterion]
) -> Mapping[tuple[Criterion, CaseKey], Judged]:
    """Return what graders said of each row that counts, on each criterion."""
    found: dict[tuple[Criterion, CaseKey], Judged] = {}
    for trial in trials:
        key = trial.key.case_key
        if key not in keys:
            continue
        said = {score.grader: score.passed for score in trial.scores}
        for criterion in criteria:
            passed = trial.verdict is Verdict.PASSED if criterion is None else said.get(criterion)
            if passed is not None:
                before = found.get((criterion, key), Judged(passed, 0, 0))
                found[criterion, key] = Judged(
                    before.first, before.passed + passed, before.decided + 1
                )
    return found


@dataclass(frozen=True, slots=True)
class _File:
    """One arm's labels by criterion, and the cases that the arm does not have."""

    labels: Mapping[Criterion, ArmLabels]
    unknown: tuple[str, ...]


def _arm_labels(labels: Sequence[HumanLabel], columns: ArmColumns) -> _File:
    keys = [CaseKey(*key) for key in zip(columns.case_ids, columns.conditions, strict=True)]
    found: dict[Criterion, ArmLabels] = {}
    unknown: dict[str, None] = {}
    for criterion in dict.fromkeys(label.criterion for label in labels):
        own = match_labels([label for label in labels if label.criterion == criterion], keys)
        given = {
            k: label.value == "pass" for k, label in own.labels.items() if label.value != "skip"
        }
        found[criterion] = ArmLabels(given, len(own.labels) - len(given))
        unknown.update(dict.fromkeys(own.unknown))
    return _File(found, tuple(unknown))

"""`grader calibrate`: a grader against people who labelled the same outputs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fairtrial.analysis.judge_calibration import ALL, Opinion, judge_calibration
from fairtrial.analysis.labels import Matched, match_labels
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm, find_arm
from fairtrial.app.judged_outputs import graded, stored_outputs, tried_grader
from fairtrial.app.picturing import checked_plot, pictured
from fairtrial.app.reports.accompanied import AccompaniedReport
from fairtrial.app.reports.calibration import CalibrationReport
from fairtrial.app.requests.grader_calibrate import Request
from fairtrial.interchange.label_files import read_human_labels
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.errors import UsageError
from fairtrial.model.grader import Subject
from fairtrial.model.label import HumanLabel
from fairtrial.schema.json_pointer import LeadsNowhereError, parse_pointer, resolve_pointer

OUTPUT_AT = "/metadata/output"


@dataclass(frozen=True, slots=True)
class _Labelled:
    """What people labelled: each output with whether they pass it."""

    subjects: Sequence[Subject]
    passes: Sequence[bool]
    skipped: int
    unknown: tuple[str, ...]


def grader_calibrate(bench: Bench, request: Request) -> CalibrationReport | AccompaniedReport:
    """Grade what people labelled, and say how far grader and people agree.

    Raises:
        UsageError: an option or a label makes no sense, or nothing is labelled in the split.
        NotFoundError: a file, an experiment or a dataset does not exist.
        FairtrialError: the grader cannot be set up.
        StoreError: the store cannot be read.
    """
    path = checked_plot(bench, request.picture.plot)
    arm = _arm(bench, request)
    grader = tried_grader(bench, request.grader, arm)
    labels = _spoken(request, read_human_labels(bench.path(request.labels)), grader.spec.name)
    found = _labelled(bench, request, arm, labels)
    _check_split(found, request.split)
    scores = graded(
        bench,
        grader,
        found.subjects,
        concurrency=request.concurrency,
        cache=not request.caching.no_cache,
    )
    opinions = [
        Opinion(subject.case.key, subject.case.split, passes, score)
        for subject, passes, score in zip(found.subjects, found.passes, scores, strict=True)
    ]
    report = CalibrationReport(
        calibration=judge_calibration(
            grader.spec.name, request.split, opinions, request.min_labels
        ),
        grader=grader.spec.content(),
        source=request.dataset or (arm.ref if arm else ""),
        skipped=found.skipped,
        unknown=found.unknown,
    )
    if path is None:
        return report
    from fairtrial.app.plots.calibration import calibration_picture  # noqa: PLC0415  # rarely asked

    return pictured(report, calibration_picture(report), path)


def _arm(bench: Bench, request: Request) -> ChosenArm | None:
    if (request.experiment is None) == (request.dataset is None):
        raise UsageError(
            "give the outputs that people labelled: --experiment or --dataset, one of the two",
            fix="e.g. --experiment smoke",
        )
    if request.experiment is None:
        return None
    if request.output_at is not None:
        raise UsageError("--output-at has no effect without --dataset", fix="leave it out")
    return find_arm(bench, request.experiment)


def _spoken(request: Request, labels: Sequence[HumanLabel], grader: str) -> Sequence[HumanLabel]:
    """Return the labels that speak to a grader.

    Raises:
        UsageError: none does.
    """
    criteria = {label.criterion for label in labels}
    wanted = request.criterion
    if wanted is None and grader in criteria:
        wanted = grader
    spoken = [label for label in labels if label.criterion == wanted]
    if not spoken:
        named = ", ".join(sorted(name for name in criteria if name is not None))
        about = "without a criterion" if wanted is None else f"for the criterion {wanted!r}"
        raise UsageError(
            f"there is no label {about}",
            where=str(request.labels),
            why=f"the labels speak of: {named}" if named else "no label names a criterion",
            fix="say which with --criterion" if named else "leave out --criterion",
        )
    return spoken


def _labelled(
    bench: Bench, request: Request, arm: ChosenArm | None, labels: Sequence[HumanLabel]
) -> _Labelled:
    if arm is not None:
        by_key = {
            case.key: Subject(case, trial.output, trial.key.trial, trial.metrics)
            for case, trial in stored_outputs(bench, arm, lambda _: True)
        }
        matched = _matched(labels, by_key.keys())
        subjects = [by_key[key] for key in matched.labels]
    else:
        matched, subjects = _of_dataset(bench, request, labels)
    values = [label.value for label in matched.labels.values()]
    usable = [place for place, value in enumerate(values) if value != "skip"]
    if not usable:
        raise UsageError(
            "no label belongs to an output that is there",
            where=str(request.labels),
            why=f"unknown: {', '.join(matched.unknown[:5])}" if matched.unknown else None,
        )
    return _Labelled(
        [subjects[place] for place in usable],
        [values[place] == "pass" for place in usable],
        len(values) - len(usable),
        matched.unknown,
    )


def _of_dataset(
    bench: Bench, request: Request, labels: Sequence[HumanLabel]
) -> tuple[Matched[HumanLabel], list[Subject]]:
    version = bench.store.datasets.version(request.dataset or "")
    outlines = {CaseKey(o.id, o.condition): o for o in bench.store.datasets.outline(version)}
    matched = _matched(labels, outlines.keys())
    pointer = request.output_at or OUTPUT_AT
    try:
        steps = parse_pointer(pointer)
    except ValueError as error:
        raise UsageError(str(error), where="--output-at") from None
    positions = [outlines[key].position for key in matched.labels]
    cases = bench.store.datasets.cases(version, positions)
    return matched, [_subject(case, steps, pointer) for case in cases]


def _subject(case: Case, steps: tuple[str, ...], pointer: str) -> Subject:
    try:
        output = resolve_pointer(case.content(), steps)
    except LeadsNowhereError as error:
        raise UsageError(
            f"case {case.id!r} holds no output at {pointer}: {error}",
            where="--output-at",
            fix="say where it stands, e.g. --output-at /input/answer",
        ) from None
    return Subject(case, output, 1)


def _matched(labels: Sequence[HumanLabel], keys: Collection[CaseKey]) -> Matched[HumanLabel]:
    return match_labels(labels, keys)


def _check_split(found: _Labelled, split: str) -> None:
    """Refuse to take cases for evidence that the grader may have been made on.

    Raises:
        UsageError: no labelled case is in the split.
    """
    splits = [subject.case.split for subject in found.subjects]
    if split == ALL or split in splits:
        return
    there = ", ".join(sorted({name or "none" for name in splits}))
    raise UsageError(
        f"no labelled case is in the split {split!r}",
        where="--split",
        why=f"the labelled cases are in: {there}; a grader that was made while looking at cases "
        "agrees best with these",
        fix="label cases of the test split, or take all with --split all: the verdict says so",
    )

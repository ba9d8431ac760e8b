"""`exp labels`: what people said of an experiment's rows, for what learns from labels."""

from __future__ import annotations

from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import find_arm
from fairtrial.app.reports.document import DocumentReport, document
from fairtrial.app.requests.exp_labels import Request
from fairtrial.interchange.label_writing import WrittenLabel, write_human_labels
from fairtrial.model.errors import NotFoundError
from fairtrial.model.review import Opinion, ReviewItem

_VALUES: Final = {Opinion.PASSED: "pass", Opinion.FAILED: "fail", Opinion.UNCLEAR: "skip"}


def exp_labels(bench: Bench, request: Request) -> DocumentReport:
    """Return the last word of people on each row as labels, in the order of the rows' names.

    Raises:
        NotFoundError: there is no such experiment, or nobody said anything of its rows.
        UsageError: it has several arms and none is named, or the file cannot be written.
    """
    arm = find_arm(bench, request.experiment)
    said: dict[tuple[str, str], ReviewItem] = {}
    for item in bench.store.reviews.settled_of(arm.experiment.id):
        if item.arm == arm.arm:
            said[item.case_id, item.condition] = item
    if not said:
        raise NotFoundError(
            f"nobody has said anything of a row of {arm.label}",
            fix="open rows with `fairtrial serve`, send them to review, and say what you think",
        )
    labels = [_label(said[key]) for key in sorted(said)]
    path = bench.output(request.output)
    return document("jsonl", lambda stream: write_human_labels(labels, stream), path)


def _label(item: ReviewItem) -> WrittenLabel:
    if item.opinion is None:
        raise ValueError(f"{item.id} waits")
    return WrittenLabel(item.case_id, item.condition, _VALUES[item.opinion], item.note)

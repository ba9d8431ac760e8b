"""What a person does with a row: copy it into a dataset, or let somebody look at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ulid import ULID

from fairtrial.app.bench import Bench
from fairtrial.app.dataset_add import checked_name
from fairtrial.app.stored_cases import cases_of_id
from fairtrial.model.case import Case
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.errors import NotFoundError
from fairtrial.model.experiment import Experiment
from fairtrial.model.json import Json
from fairtrial.model.review import Opinion, ReviewItem
from fairtrial.model.row import RowGlance

_NAMES: Final = 200


def dataset_names(bench: Bench) -> list[str]:
    """Return the names of datasets to choose from; not all of very many."""
    return [version.dataset for version in bench.store.datasets.versions()[:_NAMES]]


def add_to_dataset(
    bench: Bench, ref: str, row: tuple[str, str, str], dataset: str
) -> tuple[DatasetVersion, bool]:
    """Copy the case of a row into a dataset, as its newest version.

    A case that is there already under this id and condition takes the new content.

    Returns:
        The version, and whether it is new.

    Raises:
        UsageError: the name is none.
        NotFoundError: there is no such experiment or row.
    """
    name = checked_name(dataset.strip())
    experiment = bench.store.experiments.find(ref).experiment
    case_id, condition, _ = row
    found = [one for one in cases_of_id(bench, experiment, case_id) if one.condition == condition]
    if not found:
        raise NotFoundError(f"{experiment.name} has no case {case_id!r} under {condition}")
    return bench.store.datasets.add_version(name, _with(bench, name, found[0]))


def _with(bench: Bench, name: str, added: Case) -> Iterator[Case]:
    datasets = bench.store.datasets
    versions = datasets.versions(name)
    is_there = False
    for case in datasets.cases(versions[0]) if versions else ():
        is_there = is_there or case.key == added.key
        yield added if case.key == added.key else case
    if not is_there:
        yield added


def send_to_review(bench: Bench, ref: str, row: tuple[str, str, str]) -> ReviewItem:
    """Put a row in the queue of reviews, once.

    Raises:
        NotFoundError: there is no such experiment or row.
    """
    experiment = bench.store.experiments.find(ref).experiment
    found = bench.store.experiments.glances(experiment.id, [row])
    if not found:
        raise NotFoundError(f"{experiment.name} has no such row", where=" ".join(row))
    now = bench.clock.now()
    case_id, condition, arm = row
    return bench.store.reviews.send(
        ReviewItem(
            id=f"rev_{ULID.from_datetime(now)}",
            experiment=experiment.id,
            name=experiment.name,
            case_id=case_id,
            condition=condition,
            arm=arm,
            reason=found[0].row.first_reason,
            sent_at=now,
        )
    )


@dataclass(frozen=True, slots=True)
class ReviewedRow:
    """An item of the queue with its row.

    Attributes:
        item: The item.
        glance: The row, as far as a table shows it; None when it is gone.
        expected: What its case expects; None when nothing, or when the case is gone.
    """

    item: ReviewItem
    glance: RowGlance | None
    expected: Json


def reviewed_rows(bench: Bench, items: Sequence[ReviewItem]) -> Sequence[ReviewedRow]:
    """Return items of the queue with what their rows hold."""
    glances: dict[tuple[str, tuple[str, str, str]], RowGlance] = {}
    expected: dict[tuple[str, tuple[str, str, str]], Json] = {}
    for ref in dict.fromkeys(item.experiment for item in items):
        rows = [item.row for item in items if item.experiment == ref]
        try:
            experiment = bench.store.experiments.find(ref).experiment
            found = bench.store.experiments.glances(ref, rows)
        except NotFoundError:
            continue
        for glance in found:
            glances[ref, (*glance.row.key, glance.row.arm)] = glance
        for row in rows:
            expected[ref, row] = _expected(bench, experiment, row)
    return [
        ReviewedRow(
            item,
            glances.get((item.experiment, item.row)),
            expected.get((item.experiment, item.row)),
        )
        for item in items
    ]


def _expected(bench: Bench, experiment: Experiment, row: tuple[str, str, str]) -> Json:
    try:
        cases = cases_of_id(bench, experiment, row[0])
    except NotFoundError:  # its dataset version is not in this store
        return None
    return next((case.expected for case in cases if case.condition == row[1]), None)


def settle_review(bench: Bench, ref: str, opinion: Opinion, note: str) -> ReviewItem:
    """Record what a person said of a row.

    Raises:
        NotFoundError: there is no such item.
    """
    return bench.store.reviews.settle(ref, opinion, note.strip() or None, bench.clock.now())

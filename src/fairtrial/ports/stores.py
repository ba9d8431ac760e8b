"""What keeps datasets, experiments and settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from fairtrial.model.case import Case, CaseKey
from fairtrial.model.columns import PairedRows
from fairtrial.model.comparison import FlipCounts
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.experiment import Experiment, ExperimentState, GraderTotals, Status
from fairtrial.model.json import Json
from fairtrial.model.row import Row, RowGlance
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.model.verdict import Cause, Verdict
from fairtrial.query.expression import Expression


@dataclass(frozen=True, slots=True)
class CaseOutline:
    """A case without its content.

    Attributes:
        position: Its place in the version, from 0.
        id: The case id.
        condition: Its condition.
        split: Its split.
        digest: SHA-256 of its content, in hexadecimal.
    """

    position: int
    id: str
    condition: str
    split: str | None
    digest: str


class DatasetStore(Protocol):
    """Keeps datasets. Versions are immutable."""

    def add_version(self, name: str, cases: Iterable[Case]) -> tuple[DatasetVersion, bool]:
        """Store cases as the newest version of a dataset, in one transaction.

        Returns:
            The version, and whether it is new: the same cases in the same order as the newest
            version make no new one.
        """
        ...

    def version(self, ref: str) -> DatasetVersion:
        """Return the version that `NAME`, `NAME@NUMBER` or `NAME@DIGEST` (6+ digits) names.

        Raises:
            NotFoundError: there is none; the message suggests the nearest name.
        """
        ...

    def versions(self, name: str | None = None) -> Sequence[DatasetVersion]:
        """Return the newest version of every dataset by name, or all of one, newest first."""
        ...

    def cases(
        self, version: DatasetVersion, positions: Sequence[int] | None = None
    ) -> Iterator[Case]:
        """Yield cases in dataset order, or those at the given positions in the given order."""
        ...

    def cases_of_id(self, version: DatasetVersion, case_id: str) -> Sequence[Case]:
        """Return the cases with an id in dataset order: one for each of its conditions.

        Raises:
            NotFoundError: there is no such version.
        """
        ...

    def outline(self, version: DatasetVersion) -> Iterator[CaseOutline]:
        """Yield what selection needs of every case, in dataset order, without its content."""
        ...


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A checked filter of the rows of an experiment.

    Attributes:
        where: What it says.
        baseline: The experiment and the arm that rows are held against; None when there is none.
    """

    where: Expression
    baseline: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class TrialFilter:
    """Which recorded trials to yield; None does not filter.

    Attributes:
        verdicts: Their verdict is one of these.
        causes: Their cause is one of these; None among them stands for "judged by graders".
        arm: They ran in this arm.
        case_id: They ran this case.
        rows: They are of rows that this fits.
    """

    verdicts: frozenset[Verdict] | None = None
    causes: frozenset[Cause | None] | None = None
    arm: str | None = None
    case_id: str | None = None
    rows: RowFilter | None = None


EVERY_ROW: Final = 2**31
"""A limit that no experiment reaches."""


@dataclass(frozen=True, slots=True)
class RowQuery:
    """Which rows to return.

    Attributes:
        only: `failed` (a failed trial), `flaky`, `undecided`, or None for all.
        order: `key`, or `slowest` (longest mean duration first).
        limit: How many at most.
        after: The key and arm of the last row of the page before, with order `key`.
        arm: Only rows of this arm.
        where: Only rows that this fits.
    """

    only: str | None = None
    order: str = "key"
    limit: int = 50
    after: tuple[str, str, str] | None = None
    arm: str | None = None
    where: RowFilter | None = None


class ExperimentStore(Protocol):
    """Keeps experiments and their trials.

    Every write is one transaction. Execution is at least once and the record exactly once: a
    trial key is stored once, and a later record of it supersedes the earlier one in every read,
    without deleting it.
    """

    def open_experiment(self, experiment: Experiment, positions: Sequence[int]) -> None:
        """Store a new experiment as running, with its resolved cases (dataset positions)."""
        ...

    def reopen(self, experiment_id: str, policy: Mapping[str, Json], now: datetime) -> None:
        """Mark an unfinished (or, for a retry of errors, finished) experiment as running again.

        Raises:
            RefusedError: another process of this machine is at it.
        """
        ...

    def close_experiment(
        self, experiment_id: str, status: Status, reason: str | None, now: datetime
    ) -> None:
        """Record how an experiment ended."""
        ...

    def record(self, experiment_id: str, trials: Sequence[Trial], now: datetime) -> None:
        """Store trials with their scores and add them to all aggregates, in one transaction."""
        ...

    def find(self, ref: str) -> ExperimentState:
        """Return the experiment with this id, unique prefix (6+ characters) or newest name.

        Raises:
            NotFoundError: there is none, or the prefix fits several.
        """
        ...

    def unfinished(self, identity: str | None = None) -> Sequence[ExperimentState]:
        """Return experiments that are not finished, newest first; those of one identity."""
        ...

    def newest(
        self,
        limit: int,
        before: str | None = None,
        dataset: str | None = None,
        series: str | None = None,
        where: Expression | None = None,
        *,
        order: str = "newest",
    ) -> Sequence[ExperimentState]:
        """Return the newest experiments, newest first; `before` is the last id of a page.

        With `dataset`, only those on some version of it; with `series`, only its rounds; with
        `where`, only those that this filter fits. `order` may also be `oldest`, `name`, `cost`
        (dearest first), `failed` (most failed trials first) or `pass_rate` (lowest first).
        """
        ...

    def n_tried(self, dataset: str) -> int:
        """Return how many configurations were run on any version of a dataset."""
        ...

    def positions(self, experiment_id: str) -> Sequence[int]:
        """Return the resolved cases as dataset positions."""
        ...

    def recorded_keys(
        self, experiment_id: str, causes: frozenset[Cause] | None = None
    ) -> set[TrialKey]:
        """Return the keys on record; with `causes`, only those whose trial has such a cause."""
        ...

    def grader_totals(self, experiment_id: str) -> Sequence[GraderTotals]:
        """Return each grader's totals in the order of the spec."""
        ...

    def grader_totals_of(self, experiment_ids: Sequence[str]) -> Sequence[Sequence[GraderTotals]]:
        """Return what `grader_totals` does for each of several experiments, in one reading.

        Raises:
            NotFoundError: there is no such experiment.
        """
        ...

    def outcome_counts(
        self, experiment_id: str, arm: str | None = None
    ) -> Mapping[tuple[int, int], int]:
        """Return how many rows have so many passed and so many decided trials.

        Keys are (passed, decided); this is all that a pass rate and its interval need.
        """
        ...

    def rows(self, experiment_id: str, query: RowQuery) -> Sequence[Row]:
        """Return rows: an answer never reads all trials."""
        ...

    def n_rows(self, experiment_id: str, query: RowQuery) -> int:
        """Return how many rows a query has, whatever its limit and page."""
        ...

    def glances(
        self, experiment_id: str, keys: Sequence[tuple[str, str, str]]
    ) -> Sequence[RowGlance]:
        """Return the rows with these keys (case, condition, arm) in their order; absent ones not.

        Payloads that are too long for a table are not read.

        Raises:
            NotFoundError: there is no such experiment.
        """
        ...

    def undecided_reasons(self, experiment_id: str, limit: int) -> Sequence[tuple[str | None, int]]:
        """Return the first reasons of undecided rows and how many rows have each, most first.

        Raises:
            NotFoundError: there is no such experiment.
        """
        ...

    def paired_rows(self, a: tuple[str, str], b: tuple[str, str]) -> PairedRows:
        """Return the rows of two arms, each an experiment's id and an arm's name, joined by key.

        No trial's body and no case's content is read.

        Raises:
            NotFoundError: there is no such experiment.
        """
        ...

    def flip_counts(self, a: tuple[str, str], b: tuple[str, str]) -> FlipCounts:
        """Return how many rows of two arms, named as for `paired_rows`, were fixed and broken.

        Rows pair and are solved as in `Change`; one without a decided trial in an arm, or whose
        case has another content in the two dataset versions, does not count. No row is read.

        Raises:
            NotFoundError: there is no such experiment.
        """
        ...

    def grader_passes(
        self, experiment_id: str, arm: str, grader: str
    ) -> Mapping[CaseKey, tuple[int, int]]:
        """Return for each row how many trials passed a grader, and how many it scored.

        Rows that it did not score are absent.

        Raises:
            NotFoundError: there is no such experiment.
        """
        ...

    def trials(self, experiment_id: str, where: TrialFilter = TrialFilter()) -> Iterator[Trial]:
        """Yield whole trials ordered by case, condition, arm and trial, a page at a time."""
        ...


class SettingsStore(Protocol):
    """Keeps a JSON value under a key: what a project has chosen, and what was learned once."""

    def get(self, key: str) -> Json:
        """Return the value under a key; None when there is none."""
        ...

    def set(self, key: str, value: Json, now: datetime) -> None:
        """Keep a value, not None, in place of the one before."""
        ...

    def delete(self, key: str) -> bool:
        """Forget a value; return whether there was one."""
        ...

"""What takes results that other programs report."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from fairtrial.model.experiment import Experiment, Status
from fairtrial.model.reported import Project, Receipt, ReportedTrial, Taken


class ReportStore(Protocol):
    """Keeps experiments whose trials other programs report, batch by batch.

    A batch is one transaction. What is sent again with its receipt is known and not written twice,
    also after a crash at any point. Batches may come from many threads and processes at once.
    """

    def open(self, experiment: Experiment, receipt: Receipt | None) -> tuple[str, bool]:
        """Store a new experiment as running; nobody's process is at it.

        With `dataset_number` 0 its cases come with its trials: they gather in a draft that no list
        of versions shows, and become a version of `dataset` when it is finished. Else it has all
        cases of that version.

        Returns:
            Its id, and whether it was on record already: under this receipt, or because one of the
            same identity is.

        Raises:
            ConflictError: the receipt's key belongs to another request.
            NotFoundError: there is no such dataset version.
        """
        ...

    def take(
        self,
        experiment_id: str,
        reported: Sequence[ReportedTrial],
        receipt: Receipt | None,
        now: datetime,
    ) -> Taken:
        """Store reported trials with their cases, their scores and all aggregates.

        Raises:
            NotFoundError: there is no such experiment.
            ConflictError: it is not open for results; a trial of this number is on record; a case
                has another content than before; or the receipt's key belongs to another request.
            UsageError: a case is not in the given dataset. Nothing is written in any of these.
        """
        ...

    def finish(self, experiment_id: str, status: Status, reason: str | None, now: datetime) -> None:
        """End an experiment; its draft of cases becomes a dataset version, ordered by case.

        A version of the dataset with the same cases is used again. What is finished stays as it is.

        Raises:
            NotFoundError: there is no such experiment.
            ConflictError: no trial was reported (but one on stored cases may be ended as a part all
                the same), or it is no experiment of reported trials.
        """
        ...

    def add_project(self, project: Project) -> Project:
        """Keep a project; return the one that has its name already, if there is one."""
        ...

    def projects(self) -> Sequence[Project]:
        """Return all projects by name."""
        ...

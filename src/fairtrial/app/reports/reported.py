"""What is answered to programs that report experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.facts import state_json
from fairtrial.app.reports.informing import Informing
from fairtrial.interchange.experiment_exports.export import timestamp
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.json import Json
from fairtrial.model.reported import Project, Taken


@dataclass(frozen=True, slots=True)
class StandingReport(Informing):
    """An experiment and where it stands.

    Attributes:
        state: The experiment.
        again: It was on record already: the request was sent again.
    """

    schema: ClassVar[str] = "fairtrial.experiment_standing/1"

    state: ExperimentState
    again: bool = False

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, "again": self.again, **state_json(self.state)}


@dataclass(frozen=True, slots=True)
class TakenReport(Informing):
    """What came of a batch of rows."""

    schema: ClassVar[str] = "fairtrial.rows_taken/1"

    experiment: str
    taken: Taken

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "experiment": self.experiment,
            "again": self.taken.again,
            "trials": [key._asdict() for key in self.taken.keys],
        }


@dataclass(frozen=True, slots=True)
class ProjectsReport(Informing):
    """The projects that experiments are reported to."""

    schema: ClassVar[str] = "fairtrial.projects/1"

    projects: Sequence[Project]

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, "projects": [project_json(one) for one in self.projects]}


@dataclass(frozen=True, slots=True)
class ProjectReport(Informing):
    """One project."""

    schema: ClassVar[str] = "fairtrial.project/1"

    project: Project

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, **project_json(self.project)}


def project_json(project: Project) -> dict[str, Json]:
    """Return a project as one JSON object."""
    return {
        "id": project.id,
        "name": project.name,
        "folder": project.folder,
        "created_at": timestamp(project.created_at),
    }

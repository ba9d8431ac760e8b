"""What the dataset verbs say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.interchange.dataset_diff import DatasetDiff
from fairtrial.interchange.experiment_exports.export import timestamp
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class AddedReport(Informing):
    """A version, and whether it is new."""

    schema: ClassVar[str] = "fairtrial.dataset_added/1"

    version: DatasetVersion
    is_new: bool

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, "is_new": self.is_new, **version_json(self.version)}


@dataclass(frozen=True, slots=True)
class VersionsReport(Informing):
    """Datasets by their newest version, or the versions of one."""

    schema: ClassVar[str] = "fairtrial.datasets/1"

    versions: Sequence[DatasetVersion]

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, "versions": [version_json(v) for v in self.versions]}


@dataclass(frozen=True, slots=True)
class CasesReport(Informing):
    """A version and some of its cases; `whole` shows them in full."""

    schema: ClassVar[str] = "fairtrial.dataset/1"

    version: DatasetVersion
    cases: Sequence[Case]
    whole: bool

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            **version_json(self.version),
            "cases": [case.content() for case in self.cases],
        }


@dataclass(frozen=True, slots=True)
class DiffReport(Informing):
    """What changed from version A to version B, and in which fields of the changed cases."""

    schema: ClassVar[str] = "fairtrial.dataset_diff/1"

    a: DatasetVersion
    b: DatasetVersion
    diff: DatasetDiff
    fields: Mapping[CaseKey, Sequence[str]]

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "a": version_json(self.a),
            "b": version_json(self.b),
            "added": [key._asdict() for key in self.diff.added],
            "removed": [key._asdict() for key in self.diff.removed],
            "changed": [
                {**key._asdict(), "fields": list(self.fields[key])} for key in self.diff.changed
            ],
            "same": self.diff.same,
            "moved": self.diff.moved,
        }


def version_json(version: DatasetVersion) -> dict[str, Json]:
    """Return a version as one JSON object."""
    return {
        "dataset": version.dataset,
        "version": version.number,
        "ref": version.ref,
        "digest": version.digest,
        "created_at": timestamp(version.created_at),
        "n_cases": version.n_cases,
        "splits": dict(version.splits),
    }

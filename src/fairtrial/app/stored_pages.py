"""Pages of the cases of a dataset version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Meta

from fairtrial.app.bench import Bench
from fairtrial.app.reports.dataset import version_json
from fairtrial.app.reports.informing import Informing
from fairtrial.model.case import Case
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class CasesRequest:
    """A page of cases."""

    limit: Annotated[int, Meta(ge=1, le=1000)] = option(100)
    """Most cases to list"""
    after: str | None = option(None)
    """Only cases after this place: what the page before gave as `next`"""


@dataclass(frozen=True, slots=True)
class CasesPage(Informing):
    """A page of the cases of a version.

    Attributes:
        version: The version.
        cases: In its order.
        next: What follows this page begins there; None at the end.
    """

    schema: ClassVar[str] = "fairtrial.cases/1"

    version: DatasetVersion
    cases: Sequence[Case]
    next: str | None

    def json(self) -> dict[str, Json]:
        """Return the page as one JSON object."""
        return {
            "schema": self.schema,
            **version_json(self.version),
            "cases": [case.content() for case in self.cases],
            "next": self.next,
        }


def cases_page(bench: Bench, ref: str, request: CasesRequest) -> CasesPage:
    """Return a page of cases. Its cursor holds the version, so that a newer one changes no page.

    Raises:
        NotFoundError: there is no such version.
        UsageError: the cursor is none.
    """
    datasets = bench.store.datasets
    start = 0
    version = datasets.version(ref)
    if request.after is not None:
        number, _, place = request.after.partition(".")
        if not all(one.isascii() and one.isdecimal() and len(one) < 10 for one in (number, place)):
            raise UsageError(
                f"{request.after!r} is no cursor", where="cursor", fix="give `next` of a page"
            )
        version, start = datasets.version(f"{version.dataset}@{number}"), int(place)
    end = min(start + request.limit, version.n_cases)
    cases = tuple(datasets.cases(version, range(start, end)))
    return CasesPage(version, cases, f"{version.number}.{end}" if end < version.n_cases else None)

"""What `exp show --where` says: the rows that a filter fits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.facts import row_json
from fairtrial.app.reports.informing import Informing
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.json import Json
from fairtrial.model.row import Row


@dataclass(frozen=True, slots=True)
class RowsReport(Informing):
    """A page of rows.

    Attributes:
        state: The experiment.
        where: The filter; None when there is none.
        rows: In order of case, condition and arm.
        n_rows: How many there are on all pages.
        more: Whether there are rows after these.
    """

    schema: ClassVar[str] = "fairtrial.rows/1"

    state: ExperimentState
    where: str | None
    rows: Sequence[Row]
    n_rows: int
    more: bool

    @property
    def next(self) -> str | None:
        """What `--after` takes for the page after this one; None when there is none."""
        if not self.more:
            return None
        last = self.rows[-1]
        return json.dumps([*last.key, last.arm], ensure_ascii=False)

    def json(self) -> dict[str, Json]:
        """Return the page as one JSON object."""
        return {
            "schema": self.schema,
            "experiment": self.state.experiment.id,
            "where": self.where,
            "n_rows": self.n_rows,
            "rows": [row_json(row) for row in self.rows],
            "next": self.next,
        }

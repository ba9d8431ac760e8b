"""Cases that another program sends, as a new version of a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairtrial.app.bench import Bench
from fairtrial.app.dataset_add import checked_name
from fairtrial.app.reports.dataset import AddedReport
from fairtrial.interchange.dataset_files.assembling import Assembler
from fairtrial.interchange.dataset_files.columns import Columns, Extra
from fairtrial.model.case import Case
from fairtrial.model.errors import UsageError


def store_cases(bench: Bench, name: str, cases: Sequence[Mapping[str, Any]]) -> AddedReport:
    """Store cases as the newest version of a dataset.

    Raises:
        UsageError: the name or a case is wrong, or two have one id; nothing was written.
    """
    version, is_new = bench.store.datasets.add_version(checked_name(name), _read(cases))
    return AddedReport(version, is_new)


def _read(cases: Sequence[Mapping[str, Any]]) -> Iterator[Case]:
    assembler = Assembler(Columns(), extra=Extra.ERROR)
    for place, values in enumerate(cases):
        try:
            yield assembler.assemble(dict(values))
        except UsageError as error:
            error.where = f"cases[{place}]"
            if error.fix and "--" in error.fix:
                error.fix = "the keys are: id, input, expected, metadata, tags, split, condition"
            raise

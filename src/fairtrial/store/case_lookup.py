"""How the cases of a version are found by their ids."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, literal_column

from fairtrial.store.tables import version_case


def named(version: int, case_ids: Collection[str]) -> ColumnElement[bool]:
    """Return the condition of the cases of a version that have one of some ids.

    A sum has no index: SQLite would rather look at all cases of the version, which it takes for
    few, than for each id.
    """
    of_version = version_case.c.version_id + literal_column("0") == version
    return of_version & version_case.c.case_id.in_(case_ids)

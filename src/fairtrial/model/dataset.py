"""A dataset version: an immutable, content-hashed list of cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class DatasetVersion:
    """One immutable version of a named dataset.

    Attributes:
        dataset: The dataset's name.
        number: 1 for the first version of the name, then 2, 3, …
        digest: SHA-256 over the hashes of its cases in their order, in hexadecimal.
        created_at: When it was added (UTC).
        n_cases: How many cases it has.
        splits: Cases per split; the key `""` counts those without one.
    """

    dataset: str
    number: int
    digest: str
    created_at: datetime
    n_cases: int
    splits: Mapping[str, int]

    @property
    def ref(self) -> str:
        """`NAME@NUMBER`, which pins this version on any command."""
        return f"{self.dataset}@{self.number}"

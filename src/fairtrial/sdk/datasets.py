"""Datasets of the store, as a program sees them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

from fairtrial.app.bench import bench_here
from fairtrial.model.case import Case
from fairtrial.model.dataset import DatasetVersion
from fairtrial.sdk.plain_errors import AtTheCall


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset of the store.

    Attributes:
        name: `NAME` for its newest version, or `NAME@VERSION`.
        environ: Where the store is, as the environment says it; None is that of the process.
    """

    name: str
    environ: Mapping[str, str] | None = None

    @property
    def version(self) -> DatasetVersion:
        """The version that the name means now.

        Raises:
            NotFoundError: there is none.
        """
        with AtTheCall(), closing(bench_here(self.environ)) as bench:
            return bench.store.datasets.version(self.name)

    def __len__(self) -> int:
        """Return how many cases it has."""
        return self.version.n_cases

    def __iter__(self) -> Iterator[Case]:
        """Yield its cases in their order.

        Raises:
            NotFoundError: there is no such dataset.
        """
        with closing(bench_here(self.environ)) as bench:
            datasets = bench.store.datasets
            yield from datasets.cases(datasets.version(self.name))

"""`cache show`: how many answers are kept."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.reports.cache import CacheReport
from fairtrial.app.requests.cache_show import Request


def cache_show(bench: Bench, request: Request) -> CacheReport:  # noqa: ARG001  # every verb takes both
    """Return how many answers of models are kept, and their bytes.

    Raises:
        StoreError: the store cannot be read.
    """
    return CacheReport(*bench.store.answers.size())

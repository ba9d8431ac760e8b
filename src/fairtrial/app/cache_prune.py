"""`cache prune`: forgets kept answers."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.quantities import bytes_of, seconds_of
from fairtrial.app.reports.cache import CacheReport, PrunedReport
from fairtrial.app.requests.cache_prune import Request
from fairtrial.model.errors import UsageError


def cache_prune(bench: Bench, request: Request) -> PrunedReport:
    """Forget kept answers, and return how many.

    Raises:
        UsageError: no limit is given, or one is no time or size.
        StoreError: the store cannot be written.
    """
    if request.older_than is None and request.max_size is None:
        raise UsageError(
            "nothing says which answers to forget",
            fix="give --older-than 30d, --max-size 1GB, or both; all of them: --max-size 0",
        )
    age = None if request.older_than is None else seconds_of(request.older_than, "--older-than")
    size = None if request.max_size is None else bytes_of(request.max_size, "--max-size")
    answers = bench.store.answers
    forgotten, freed = answers.prune(bench.clock.now(), age, size)
    return PrunedReport(forgotten, freed, CacheReport(*answers.size()))

"""`key revoke`: a key that is good no more."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.reports.keys import RevokedKeyReport
from fairtrial.app.requests.key_revoke import Request


def key_revoke(bench: Bench, request: Request) -> RevokedKeyReport:
    """Revoke a key.

    Raises:
        NotFoundError: no good key is called so.
    """
    return RevokedKeyReport(bench.store.keys.revoke(request.key, bench.clock.now()))

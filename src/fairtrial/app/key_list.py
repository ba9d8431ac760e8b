"""`key list`: the keys of the server."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.reports.keys import KeysReport
from fairtrial.app.requests.key_list import Request


def key_list(bench: Bench, _request: Request) -> KeysReport:
    """Return all keys, the newest first."""
    return KeysReport(bench.store.keys.all())

"""`key create`: make a key of the server."""

from __future__ import annotations

from ulid import ULID

from fairtrial.app.bench import Bench
from fairtrial.app.keys import digest_of, new_token
from fairtrial.app.reports.keys import CreatedKeyReport
from fairtrial.app.requests.key_create import Request
from fairtrial.model.api_key import ApiKey, KeyScope


def key_create(bench: Bench, request: Request) -> CreatedKeyReport:
    """Make a key, and return it this once.

    Raises:
        UsageError: there is a key of this name.
    """
    now = bench.clock.now()
    token = new_token()
    key = ApiKey(f"key_{ULID.from_datetime(now)}", request.name, KeyScope(request.scope), now)
    bench.store.keys.add(key, digest_of(token))
    return CreatedKeyReport(key, token)

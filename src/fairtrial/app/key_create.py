"""`key create`: make a key of the server."""

from __future__ import annotations

from ulid import ULID

from fairtrial.app.bench import Bench
from fairtrial.app.keys import digest_of, new_token
from fairtrial.app.projects import project_named
from fairtrial.app.reports.keys import CreatedKeyReport
from fairtrial.app.requests.key_create import Request
from fairtrial.model.api_key import ApiKey, KeyScope


def key_create(bench: Bench, request: Request) -> CreatedKeyReport:
    """Make a key, and return it this once.

    Raises:
        UsageError: there is a key of this name.
        NotFoundError: there is no such project.
    """
    now = bench.clock.now()
    token = new_token()
    project = None if request.project is None else project_named(bench, request.project).id
    key = ApiKey(
        f"key_{ULID.from_datetime(now)}",
        request.name,
        KeyScope(request.scope),
        now,
        project=project,
    )
    bench.store.keys.add(key, digest_of(token))
    return CreatedKeyReport(key, token)

"""Options of `key list`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """List the keys of the server.

    The newest is first. Revoked keys stay in the list.
    """


EXAMPLES = ("fairtrial key list", "fairtrial key list --json")

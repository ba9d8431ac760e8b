"""Options of `key revoke`."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Revoke a key: nothing is answered to it any more.

    A server that runs refuses it from the next request on.
    """

    key: str = option(positional=True)
    """Name of the key, its id, or a unique prefix of its id"""


EXAMPLES = ("fairtrial key revoke laptop",)

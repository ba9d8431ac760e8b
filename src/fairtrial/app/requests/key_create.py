"""Options of `key create`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Make a key that other machines reach the server with.

    The key is shown once; only a hash of it is kept. It is sent with each request as
    `Authorization: Bearer KEY`. On this machine no key is needed.
    """

    name: Annotated[str, Meta(min_length=1, max_length=100)] = option(positional=True)
    """What to call it, e.g. who or what uses it"""
    scope: Literal["read", "write"] = option("read", metavar="SCOPE")
    """What it may do: read, or write, which includes read"""
    project: str | None = option(None, metavar="PROJECT")
    """Only for this project of the server: its id or name, as `GET /v2/projects` has them
    (default: for all there is)"""


EXAMPLES = ("fairtrial key create laptop", "fairtrial key create ci --scope write --json")

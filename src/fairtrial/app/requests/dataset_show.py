"""Options of `dataset show`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Show a dataset version and its first cases."""

    dataset: str = option(positional=True)
    """NAME (its newest version), NAME@NUMBER or NAME@HASH"""
    limit: Annotated[int, Meta(ge=0, le=10_000)] = option(5, short="-n", metavar="N")
    """How many cases to show"""
    case: str | None = option(None, metavar="ID")
    """Show only this case, whole"""


EXAMPLES = ("fairtrial dataset show smoke", "fairtrial dataset show smoke@2 --case c17")

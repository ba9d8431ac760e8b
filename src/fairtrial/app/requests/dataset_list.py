"""Options of `dataset list`."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """List datasets, or the versions of one."""

    name: str | None = option(None, positional=True)
    """A dataset: list all its versions, newest first"""


EXAMPLES = ("fairtrial dataset list", "fairtrial dataset list smoke --json")

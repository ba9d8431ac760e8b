"""Options of `dataset diff`."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Show what changed between two dataset versions: added, removed and changed cases.

    B without a name is another version of A's dataset: `smoke@1 @2`.
    """

    a: str = option(positional=True)
    """NAME, NAME@NUMBER or NAME@HASH"""
    b: str = option(positional=True)
    """The other version; @NUMBER or @HASH for one of the same dataset"""


EXAMPLES = ("fairtrial dataset diff smoke@1 smoke@2", "fairtrial dataset diff smoke@1 @2 --json")

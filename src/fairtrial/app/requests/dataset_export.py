"""Options of `dataset export`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Write a dataset version to a file.

    `dataset add` reads the file back to the very same version.
    """

    dataset: str = option(positional=True)
    """NAME (its newest version), NAME@NUMBER or NAME@HASH"""
    to: Literal["jsonl", "json", "csv", "tsv", "yaml"] | None = option(None, metavar="FORMAT")
    """Format (default: by the suffix of --output, else jsonl)"""
    output: Path | None = option(None, short="-o", metavar="FILE")
    """File to write (default: standard output)"""


EXAMPLES = (
    "fairtrial dataset export smoke -o smoke.jsonl",
    "fairtrial dataset export smoke@1 --to csv",
)

"""Options of reports that can be kept as files, beside being told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Plot:
    """The report as a picture."""

    plot: Path | None = option(None, metavar="FILE")
    """Also draw it to this file, .svg or .png (png needs: pip install 'fairtrial[png]')"""


@dataclass(frozen=True, slots=True)
class Document:
    """The report for another program or person."""

    to: Literal["junit", "jsonl", "csv", "markdown", "html"] | None = option(None, metavar="FORMAT")
    """Write the comparison as junit, jsonl, csv, markdown (a pull-request comment) or html; the
    exit code stays that of the comparison"""
    output: Path | None = option(None, short="-o", metavar="FILE")
    """With --to: the file to write, beside the usual report (default: standard output, instead of
    it)"""
    marker: str | None = option(None, metavar="NAME")
    """With --to markdown: the name in the hidden first line by which a later comment replaces this
    one (default: B's name)"""

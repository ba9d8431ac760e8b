"""Options of `dataset add`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fairtrial.schema.fields import group, option


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """Which column or key holds what, when it is not called so."""

    id_column: str | None = option(None, metavar="NAME")
    """Column or key with the case id; every case must then have one (default: id, else a hash of
    the input)"""
    input_columns: tuple[str, ...] = option((), flag="--input-column", metavar="NAME")
    """Column or key with the input; several make an object (default: input)"""
    expected_column: str | None = option(None, metavar="NAME")
    """Column or key with the expected output (default: expected)"""
    metadata_column: str | None = option(None, metavar="NAME")
    """Column or key with an object of named facts (default: metadata)"""
    tags_column: str | None = option(None, metavar="NAME")
    """Column or key with the tags (default: tags)"""
    split_column: str | None = option(None, metavar="NAME")
    """Column or key with the split (default: split)"""
    condition_column: str | None = option(None, metavar="NAME")
    """Column or key with the condition (default: condition)"""
    json_columns: tuple[str, ...] = option((), flag="--json-column", metavar="NAME")
    """Column of a CSV or TSV file whose cells are JSON"""
    extra: Literal["auto", "error", "metadata"] = option("auto", metavar="WHAT")
    """What becomes of other columns and keys: auto (metadata in CSV and TSV, an error elsewhere),
    error or metadata"""


@dataclass(frozen=True, slots=True)
class Request:
    """Store cases from files or from sessions as a new version of a dataset.

    The files together are the whole version. Sessions are added to the files' cases, or without
    files to those of the newest version: the first prompt of each is a case, and takes the place
    of the case that was made of this session before. The same cases in the same order as the
    newest version make no new one. Nothing is written if any line or session is wrong.
    """

    name: str = option(positional=True)
    """Name of the dataset"""
    files: tuple[Path, ...] = option((), positional=True)
    """Files: .jsonl, .json, .csv, .tsv or .yaml; - reads JSONL from standard input"""
    sessions: tuple[str, ...] = option((), flag="--session", metavar="SESSION")
    """A captured session whose first prompt becomes a case: its id, a prefix, the agent's own id,
    latest or latest#-N"""
    format: Literal["jsonl", "json", "csv", "tsv", "yaml"] | None = option(None, metavar="FORMAT")
    """Format of all files (default: by suffix)"""
    columns: ColumnNames = group(ColumnNames)


EXAMPLES = (
    "fairtrial dataset add smoke cases.jsonl",
    "fairtrial dataset add faq faq.csv --input-column question --expected-column answer",
    "cat cases.jsonl | fairtrial dataset add smoke -",
    "fairtrial dataset add mine --session latest --session ses_5rf4je",
)

"""Which column of a table, or key of an object, says what about a case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fairtrial.model.errors import UsageError

STDIN = Path("-")
"""The path that stands for standard input, read as JSONL."""


class Format(StrEnum):
    """A dataset file's format."""

    JSONL = "jsonl"
    JSON = "json"
    CSV = "csv"
    TSV = "tsv"
    YAML = "yaml"


class Extra(StrEnum):
    """What becomes of a column or key that nothing was said about."""

    AUTO = "auto"
    """Metadata in CSV and TSV, an error elsewhere."""
    ERROR = "error"
    METADATA = "metadata"


_SUFFIXES = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".json": Format.JSON,
    ".csv": Format.CSV,
    ".tsv": Format.TSV,
    ".yaml": Format.YAML,
    ".yml": Format.YAML,
}


def format_of(path: Path) -> Format:
    """Return the format that a file's suffix names; standard input is JSONL.

    Raises:
        UsageError: the suffix names none.
    """
    if path == STDIN:
        return Format.JSONL
    found = _SUFFIXES.get(path.suffix.lower())
    if found is None:
        raise UsageError(
            f"cannot tell the format from the suffix {path.suffix!r}",
            where=str(path),
            fix=f"rename the file to end in one of {', '.join(_SUFFIXES)}, or name the format",
        )
    return found


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column or key holds what.

    What is None, or empty, is looked for under its own name and may be absent (all but `input`).
    What is named here must be there.

    Attributes:
        id: The case's id. Named, every case must have one; else a case without one gets the
            hash of its input.
        input: One name: that value is the input. Several: the input is the object of them all.
        expected: What the graders compare with.
        metadata: An object of named facts.
        tags: Labels.
        split: The split's name.
        condition: The condition's name.
        json: Columns of a CSV or TSV file whose cells are JSON.
        extra: What becomes of all other columns and keys.
    """

    id: str | None = None
    input: tuple[str, ...] = ()
    expected: str | None = None
    metadata: str | None = None
    tags: str | None = None
    split: str | None = None
    condition: str | None = None
    json: tuple[str, ...] = ()
    extra: Extra = Extra.AUTO

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield (role, name) of everything that was named."""
        for role in ("id", "expected", "metadata", "tags", "split", "condition"):
            name = getattr(self, role)
            if name is not None:
                yield role, name
        for name in self.input:
            yield "input", name

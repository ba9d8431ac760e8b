"""Writes cases so that reading them again gives equal cases.

In CSV and TSV an input or expected value that text cannot carry stands in the twin column
(`input:json`, `expected:json`) as JSON: everything that is no text, and texts that a table or a
spreadsheet would damage or run.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from fairtrial.interchange.dataset_files.columns import Format, format_of
from fairtrial.interchange.dataset_files.delimited import JSON_SUFFIX
from fairtrial.interchange.dataset_files.json_text import encode
from fairtrial.model.case import DEFAULT_CONDITION, Case
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json

_Writer: TypeAlias = Callable[[Iterator[Case], TextIO], None]

_HEADER = (
    "id",
    "input",
    "input" + JSON_SUFFIX,
    "expected",
    "expected" + JSON_SUFFIX,
    "metadata",
    "tags",
    "split",
    "condition",
)
_FORMULA = re.compile(r"[=@\t\r]|[-+](?![0-9.]+$)")
_PLAIN_TAG = re.compile(r"[^\s,;\[=@+\-\0](?:[^,;\0]*[^\s,;\0])?")


def write_cases(
    cases: Iterable[Case], target: Path | TextIO, file_format: Format | None = None
) -> int:
    """Write cases and return how many there were.

    Args:
        cases: What to write; taken one at a time.
        target: A file, which is replaced only when all is written, or an open text stream. A
            stream for CSV and TSV must not translate line ends (`newline=""`).
        file_format: The format. A file's suffix tells, if None; a stream gets JSONL.

    Raises:
        UsageError: the suffix names no format, the file cannot be written, or a case holds what
            the format cannot carry.
    """
    if not isinstance(target, Path):
        return _write(cases, target, file_format or Format.JSONL)
    chosen = file_format or format_of(target)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            count = _write(cases, stream, chosen)
        temporary.replace(target)
    except OSError as error:
        raise _unwritable(target, error) from None
    finally:
        temporary.unlink(missing_ok=True)
    return count


def outline(case: Case) -> dict[str, Json]:
    """Return what a case says as an object; what has its default is left out."""
    said: dict[str, Json] = {"id": case.id, "input": case.input}
    if case.expected is not None:
        said["expected"] = case.expected
    if case.metadata:
        said["metadata"] = dict(case.metadata)
    if case.tags:
        said["tags"] = list(case.tags)
    if case.split is not None:
        said["split"] = case.split
    if case.condition != DEFAULT_CONDITION:
        said["condition"] = case.condition
    return said


def _write(cases: Iterable[Case], stream: TextIO, chosen: Format) -> int:
    counted = _Counted(cases)
    _WRITERS[chosen](iter(counted), stream)
    return counted.count


class _Counted:
    """Counts cases as they pass, and refuses those that no file can carry."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = cases
        self.count = 0

    def __iter__(self) -> Iterator[Case]:
        for case in self._cases:
            if not case.id or not case.condition or case.split == "":
                raise UsageError("a case has an empty id, condition or split", where=str(case.key))
            yield case
            self.count += 1


def _checked(text: str, case: Case) -> str:
    """Refuse text that UTF-8 cannot carry."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            "a case holds half of a surrogate pair, which no UTF-8 file can carry",
            where=ascii(str(case.key)),
            why=f"found {text[error.start]!a}",
        ) from None
    return text


def _write_jsonl(cases: Iterator[Case], stream: TextIO) -> None:
    stream.writelines(_checked(encode(outline(case)), case) + "\n" for case in cases)


def _write_json(cases: Iterator[Case], stream: TextIO) -> None:
    before = "[\n"
    for case in cases:
        stream.write(before + _checked(encode(outline(case)), case))
        before = ",\n"
    stream.write("\n]\n" if before != "[\n" else "[]\n")


def _write_csv(cases: Iterator[Case], stream: TextIO) -> None:
    _write_table(cases, csv.writer(stream))


def _write_tsv(cases: Iterator[Case], stream: TextIO) -> None:
    _write_table(cases, csv.writer(stream, dialect="excel-tab"))


def _write_table(cases: Iterator[Case], writer: Any) -> None:
    writer.writerow(_HEADER)
    for case in cases:
        plain_input = isinstance(case.input, str) and _is_safe(case.input)
        plain_expected = (
            isinstance(case.expected, str) and case.expected != "" and _is_safe(case.expected)
        )
        nothing = case.expected is None
        record = (
            case.id,
            case.input if plain_input else "",
            "" if plain_input else encode(case.input),
            case.expected if plain_expected else "",
            "" if plain_expected or nothing else encode(case.expected),
            encode(dict(case.metadata)) if case.metadata else "",
            _tags(case.tags),
            case.split or "",
            "" if case.condition == DEFAULT_CONDITION else case.condition,
        )
        if "\0" in _checked("\n".join(record), case):
            raise UsageError(
                "the id, split or condition holds a NUL byte, which a table cannot carry",
                where=str(case.key),
                fix="write JSONL",
            )
        writer.writerow(record)


def _is_safe(text: str) -> bool:
    return "\0" not in text and not _FORMULA.match(text)


def _tags(tags: tuple[str, ...]) -> str:
    if all(_PLAIN_TAG.fullmatch(tag) for tag in tags):
        return ",".join(tags)
    return encode(list(tags))


def _write_yaml(cases: Iterator[Case], stream: TextIO) -> None:
    # PyYAML takes 20 ms to import; only who writes YAML pays.
    from fairtrial.interchange.dataset_files.yaml_writing import dump_case  # noqa: PLC0415

    empty = True
    for case in cases:
        said = outline(case)
        _checked(encode(said), case)
        stream.write(dump_case(said))
        empty = False
    if empty:
        stream.write("[]\n")


def _unwritable(target: Path, error: OSError) -> UsageError:
    return UsageError(
        "the file cannot be written", where=str(target), why=error.strerror or str(error)
    )


_WRITERS: dict[Format, _Writer] = {
    Format.JSONL: _write_jsonl,
    Format.JSON: _write_json,
    Format.CSV: _write_csv,
    Format.TSV: _write_tsv,
    Format.YAML: _write_yaml,
}

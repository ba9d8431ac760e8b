"""CSV and TSV: a header, then one case a record.

A cell is text. It is JSON when its column's header ends in `:json` or the column is listed in
`Columns.json`; the cells of the metadata column are JSON objects. An empty cell is an absent value,
except in the input, where it is the empty text.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from fairtrial.interchange.dataset_files.columns import Columns
from fairtrial.interchange.dataset_files.json_text import BrokenJson, decode
from fairtrial.interchange.dataset_files.records import Record, broken, listed
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json

JSON_SUFFIX = ":json"
_SEPARATOR = re.compile("[,;]")


class _Cell(Enum):
    TEXT = 1
    JSON = 2
    INPUT_TEXT = 3
    TAGS = 4


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    cell: _Cell


def read(lines: Iterable[str], source: str, delimiter: str, columns: Columns) -> Iterator[Record]:
    """Yield one object a record; keys are column names without `:json`.

    Args:
        lines: Lines with their ends, a byte order mark already removed.
        source: The file's name for error messages.
        delimiter: What stands between two fields.
        columns: Which column holds what.

    Raises:
        UsageError: the header or a record cannot be read.
    """
    # The limit guards programs that do not expect long fields; this one does.
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(_without_nul(lines, source), delimiter=delimiter, strict=True)
    header: Sequence[_Column] | None = None
    start = 1
    while True:
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise UsageError(
                f"the record cannot be read: {error}",
                where=f"{source}:{start}",
                fix='enclose a field in "…" and write a quote inside it as ""',
            ) from None
        if fields is None:
            return
        where = f"{source}:{start}"
        if not fields:
            pass  # a blank line
        elif header is None:
            header = _header(fields, where, columns)
        else:
            yield start, _values(header, fields, where)
        start = reader.line_num + 1


def _without_nul(lines: Iterable[str], source: str) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise UsageError(
                "the line holds a NUL byte",
                where=f"{source}:{number}",
                why="the file is binary, or damaged",
                fix="save the table as CSV in UTF-8",
            )
        yield line


def _header(fields: Sequence[str], where: str, columns: Columns) -> Sequence[_Column]:
    texts = [text.strip() for text in fields]
    seen: set[str] = set()
    for number, text in enumerate(texts, start=1):
        if not text.removesuffix(JSON_SUFFIX):
            raise UsageError(f"column {number} has no name", where=where, fix="name or remove it")
        if text in seen:
            raise UsageError(f"two columns are named {text!r}", where=where, fix="rename one")
        seen.add(text)
    header = [_column(text, columns) for text in texts]
    names = {column.name for column in header}
    wanted = [*columns.named(), *(("JSON", name) for name in columns.json)]
    if not columns.input:
        wanted.append(("input", "input"))
    for role, name in wanted:
        if name not in names:
            _refuse_header(role, name, texts, where)
    return header


def _refuse_header(role: str, name: str, texts: Sequence[str], where: str) -> None:
    option = "--json-column" if role == "JSON" else f"--{role}-column"
    fix = f"say which column holds the {role} with {option}"
    alone = texts[0] if len(texts) == 1 else ""
    mark = next((mark for mark in (";", "\t", ",", "|") if mark in alone), None)
    if mark:
        fix = (
            f"the fields seem to be separated by {mark!r}: separate them by commas, or tabs in .tsv"
        )
    raise UsageError(
        f"there is no column {name!r} for the {role}",
        where=where,
        why=f"the file's columns are {listed(texts)}",
        fix=fix,
    )


def _column(text: str, columns: Columns) -> _Column:
    name = text.removesuffix(JSON_SUFFIX)
    if name != text or name in columns.json or name == (columns.metadata or "metadata"):
        return _Column(name, _Cell.JSON)
    if name == (columns.tags or "tags"):
        return _Column(name, _Cell.TAGS)
    if name in (columns.input or ("input",)):
        return _Column(name, _Cell.INPUT_TEXT)
    return _Column(name, _Cell.TEXT)


def _values(header: Sequence[_Column], fields: Sequence[str], where: str) -> dict[str, Json]:
    if len(fields) != len(header):
        raise UsageError(
            f"the record has {len(fields)} fields, the header {len(header)}",
            where=where,
            fix='a field that holds the separator or a line end must stand in "…"',
        )
    values: dict[str, Json] = {}
    for column, text in zip(header, fields, strict=True):
        if text == "":
            if column.cell is _Cell.INPUT_TEXT:
                values.setdefault(column.name, "")
            continue
        if values.get(column.name, "") != "":
            raise UsageError(
                f"{column.name!r} and '{column.name}{JSON_SUFFIX}' both have a value",
                where=where,
                fix="leave one of the two cells empty",
            )
        plain = column.cell is _Cell.TEXT or column.cell is _Cell.INPUT_TEXT
        values[column.name] = text if plain else _value(column, text, where)
    return values


def _value(column: _Column, text: str, where: str) -> Json:
    if column.cell is _Cell.TAGS and not text.startswith("["):
        return [tag for part in _SEPARATOR.split(text) if (tag := part.strip())]
    try:
        return decode(text)
    except BrokenJson as problem:
        raise broken(f"the cell of {column.name!r} is not JSON", where, problem) from None

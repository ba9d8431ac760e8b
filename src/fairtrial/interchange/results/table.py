"""Plain rows as a table: CSV, TSV, or separated by semicolons, with a header."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from fairtrial.interchange.results import own_export
from fairtrial.interchange.results.contract import Asked, Notes, Probe
from fairtrial.interchange.results.files import text_lines
from fairtrial.interchange.results.json_values import Unreadable, value_of
from fairtrial.interchange.results.plain_rows import PlainRows
from fairtrial.interchange.results.roles import hold_results
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json

TOOL: Final = "csv"
_SEPARATORS: Final = ",\t;|"
_JSON_SUFFIX: Final = ":json"
_TEXTS: Final = frozenset({"input", "expected", "output", "reason", "id"})
"""Roles whose cells are texts, whatever they look like."""
_LONGEST_HEADER: Final = 65_536


def recognises(probe: Probe, asked: Asked) -> bool:
    """Return whether the first line is the header of a table of results."""
    first = probe.head.lstrip("\ufeff\r\n ")[:_LONGEST_HEADER]
    if probe.is_folder or probe.keys or first[:1] in ("<", "{", "[", ""):
        return False
    names = _header(first)
    return own_export.is_own(names) or hold_results(names, asked.columns)


def _header(text: str) -> set[str]:
    try:
        fields = next(csv.reader(io.StringIO(text), delimiter=_separator(text)), [])
    except csv.Error:
        return set()
    return {name.strip().removesuffix(_JSON_SUFFIX) for name in fields}


def _separator(text: str) -> str:
    line = text.split("\n", 1)[0]
    return max(_SEPARATORS, key=line.count)


class TableRows(PlainRows):
    """The rows of a table. See `Reading`."""

    def _rows(self) -> Iterator[tuple[str, dict[str, Json]]]:
        # The limit guards programs that do not expect long fields; this one does.
        csv.field_size_limit(2**31 - 1)
        texts = text_lines(self._path, self._notes)
        first = next(texts, "")
        reader = csv.reader(_all(first, texts), delimiter=_separator(first))
        header: list[tuple[str, bool]] = []
        while True:
            where = f"line {reader.line_num + 1}"
            try:
                fields = next(reader, None)
            except csv.Error as error:
                raise UsageError(
                    f"the table cannot be read: {error}", where=f"{self._path}, {where}"
                ) from None
            if fields is None:
                return
            if not any(fields):
                continue
            if not header:
                header = self._columns(fields)
                continue
            if len(fields) != len(header):
                self._notes.add("rows with another number of fields than the header", where)
            row = self._values(header, fields, where)
            yield where, row

    def _columns(self, fields: Sequence[str]) -> list[tuple[str, bool]]:
        found = []
        for text in fields:
            name = text.strip()
            plain = name.removesuffix(_JSON_SUFFIX)
            role = self._roles.of(plain)
            found.append((plain, plain != name or (role is not None and role[0] not in _TEXTS)))
        return found

    def _values(
        self, header: Sequence[tuple[str, bool]], fields: Sequence[str], where: str
    ) -> dict[str, Json]:
        row: dict[str, Json] = {name: None for name, _ in header}
        for (name, may_be_json), text in zip(header, fields, strict=False):
            if text == "":
                continue
            row[name] = text
            if may_be_json and text.lstrip()[:1] in ("{", "["):
                try:
                    row[name] = value_of(text, self._notes, where)
                except Unreadable:
                    self._notes.add(f"cells of {name[:60]!r} that are no JSON", where)
        # A column that is empty here is not there here.
        if own_export.is_own(set(row)):
            return row
        return {name: value for name, value in row.items() if value is not None}


def _all(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def read(path: Path, asked: Asked, notes: Notes) -> TableRows:
    """Return the results of a table."""
    return TableRows(path, asked, notes)

"""Plain rows as JSON: one object a line, or an array of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from fairtrial.interchange.results import own_export
from fairtrial.interchange.results.contract import Asked, Notes, Probe
from fairtrial.interchange.results.files import document, head_of, lines
from fairtrial.interchange.results.json_values import Unreadable, value_of
from fairtrial.interchange.results.plain_rows import PlainRows
from fairtrial.interchange.results.roles import hold_results
from fairtrial.model.json import Json

TOOL: Final = "jsonl"


def recognises(probe: Probe, asked: Asked) -> bool:
    """Return whether the first object is a row of results."""
    names = set(probe.keys)
    return bool(names) and (own_export.is_own(names) or hold_results(names, asked.columns))


class JsonRows(PlainRows):
    """The rows of a file. See `Reading`."""

    def _rows(self) -> Iterator[tuple[str, dict[str, Json]]]:
        if head_of(self._path, 4096).lstrip()[:1] == b"[":
            items = enumerate(document(self._path, list[msgspec.Raw], self._notes), 1)
            texts: Iterator[tuple[str, bytes | msgspec.Raw]] = (
                (f"item {number}", item) for number, item in items
            )
        else:
            texts = ((f"line {number}", line) for number, line in lines(self._path, self._notes))
        for where, text in texts:
            try:
                value = value_of(text, self._notes, where)
            except Unreadable:
                self._notes.add("rows that are no JSON", where, lost=True)
                continue
            if isinstance(value, dict):
                yield where, value
            else:
                self._notes.add("rows that are no object", where, lost=True)


def read(path: Path, asked: Asked, notes: Notes) -> JsonRows:
    """Return the results of a file."""
    return JsonRows(path, asked, notes)

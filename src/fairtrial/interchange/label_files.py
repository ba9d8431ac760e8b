"""Reads human labels: a JSON array of objects, or JSONL with one a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fairtrial.interchange.dataset_files.json_text import BrokenJson, decode, raw_items
from fairtrial.interchange.dataset_files.records import broken, kind_of
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.json import Json
from fairtrial.model.label import HumanLabel, WinnerLabel
from fairtrial.schema.decoding import unknown_name

VALUES = ("pass", "fail", "skip")
WINNERS = ("a", "b", "tie")
_CASE = ("caseId", "case_id")
_SHOWN = 60
_LARGEST = 256 * 1024 * 1024
"""Bytes of a file: millions of labels. A device such as /dev/zero has no end."""


def read_human_labels(path: Path) -> tuple[HumanLabel, ...]:
    """Return the labels of one arm's outputs. A `note` is a person's own word, and not read.

    Raises:
        NotFoundError: the file does not exist.
        UsageError: it cannot be read, holds nothing, or a label is wrong or given twice.
    """
    labels = [
        HumanLabel(
            case_id=_case_id(record, where),
            condition=_text(record, "condition", where),
            value=_choice(record, "value", VALUES, where),
            criterion=_text(record, "criterion", where),
            where=where,
        )
        for where, record in _records(path, (*_CASE, "condition", "value", "criterion", "note"))
    ]
    _refuse_duplicates([((la.case_id, la.condition, la.criterion), la.where) for la in labels])
    return tuple(labels)


def read_winner_labels(path: Path) -> tuple[WinnerLabel, ...]:
    """Return which of two outputs people find better.

    Raises:
        NotFoundError: the file does not exist.
        UsageError: it cannot be read, holds nothing, or a label is wrong or given twice.
    """
    labels = [
        WinnerLabel(
            case_id=_case_id(record, where),
            condition=_text(record, "condition", where),
            winner=_choice(record, "winner", WINNERS, where),
            where=where,
        )
        for where, record in _records(path, (*_CASE, "condition", "winner"))
    ]
    _refuse_duplicates([((label.case_id, label.condition), label.where) for label in labels])
    return tuple(labels)


def _records(path: Path, known: Sequence[str]) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the objects of a file, each with the file and line it starts at."""
    data = _read(path).removeprefix(b"\xef\xbb\xbf")
    found = False
    for line, text in _items(data, path):
        found, where = True, f"{path}:{line}"
        try:
            record = decode(text)
        except BrokenJson as problem:
            place = f"{path}:{line + problem.line - 1}"
            raise broken("the label is not JSON", place, problem) from None
        if not isinstance(record, dict):
            raise UsageError(f"a label must be an object, this is {kind_of(record)}", where=where)
        unknown = [unknown_name(key, known) for key in record if key not in known]
        if unknown:
            raise UsageError("; ".join(unknown), where=where)
        yield where, record
    if not found:
        raise UsageError("the file holds no labels", where=str(path))


def _items(data: bytes, path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the line that each label starts at, and its text."""
    if not data.lstrip().startswith(b"["):
        for line, text in enumerate(data.split(b"\n"), start=1):
            if text.strip():
                yield line, text
        return
    try:
        items = raw_items(data)
    except BrokenJson as problem:
        raise broken("the file is not JSON", f"{path}:{problem.line}", problem) from None
    offset, line = data.index(b"[") + 1, 1 + data[: data.index(b"[")].count(b"\n")
    for item in items:
        text = bytes(memoryview(item))
        start = data.index(text, offset)
        line += data.count(b"\n", offset, start)
        yield line, text
        line += text.count(b"\n")
        offset = start + len(text)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except FileNotFoundError:
        raise NotFoundError("the file does not exist", where=str(path)) from None
    except OSError as error:
        raise UsageError(f"the file cannot be read: {error.strerror}", where=str(path)) from None
    if len(data) > _LARGEST:
        raise UsageError(f"the file has more than {_LARGEST:,} bytes", where=str(path))
    return data


def _case_id(record: dict[str, Json], where: str) -> str:
    given = [record[key] for key in _CASE if key in record]
    if len(given) != 1 or not isinstance(given[0], str) or not given[0]:
        raise UsageError("a label needs one 'caseId', a text", where=where)
    return given[0]


def _text(record: dict[str, Json], key: str, where: str) -> str | None:
    value = record.get(key)
    if value is None or (isinstance(value, str) and value):
        return value
    raise UsageError(f"'{key}' must be a text, got {_shown(value)}", where=where)


def _choice(record: dict[str, Json], key: str, choices: Sequence[str], where: str) -> Any:
    if key not in record:
        raise UsageError(f"the label has no '{key}'", where=where, fix=f"one of {_all(choices)}")
    if record[key] not in choices:
        raise UsageError(
            f"'{key}' must be one of {_all(choices)}, got {_shown(record[key])}", where=where
        )
    return record[key]


def _all(choices: Sequence[str]) -> str:
    return ", ".join(f'"{choice}"' for choice in choices)


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _refuse_duplicates(labels: Sequence[tuple[tuple[str | None, ...], str]]) -> None:
    first: dict[tuple[str | None, ...], str] = {}
    for key, where in labels:
        if key in first:
            raise UsageError(
                f"case {key[0]!r} is labelled twice",
                where=where,
                why=f"its first label is at {first[key]}",
                fix="keep one of the two",
            )
        first[key] = where

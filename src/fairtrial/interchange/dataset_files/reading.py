"""Reads cases from files, refusing whatever is not exactly what it says.

A reader raises before the caller has written anything, so a bad file leaves no trace.
"""

from __future__ import annotations

import hashlib
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from fairtrial.interchange.dataset_files import delimited, json_array, jsonl
from fairtrial.interchange.dataset_files.assembling import Assembler
from fairtrial.interchange.dataset_files.columns import STDIN, Columns, Extra, Format, format_of
from fairtrial.interchange.dataset_files.json_text import BrokenJson, bad_utf8
from fairtrial.interchange.dataset_files.records import Record, broken
from fairtrial.model.case import Case
from fairtrial.model.errors import NotFoundError, UsageError

_DELIMITERS = {Format.CSV: ",", Format.TSV: "\t"}
LONGEST_LINE = 256 * 1024 * 1024
"""Bytes of a line. What a path leads to, such as /dev/zero, may have no end."""
LARGEST_WHOLE = 512 * 1024 * 1024
"""Bytes of a JSON or YAML file, which are held as a whole."""


def read_cases(
    paths: Sequence[Path],
    columns: Columns | None = None,
    *,
    file_format: Format | None = None,
    stdin: BinaryIO | None = None,
) -> Iterator[Case]:
    """Yield the cases of files in their order.

    JSONL, CSV and TSV are read line by line; JSON and YAML files are held as a whole.

    Args:
        paths: Files; `-` is standard input.
        columns: Which column or key holds what.
        file_format: The format of all files; each file's suffix tells, if None.
        stdin: What `-` reads; this process's standard input, if None.

    Raises:
        NotFoundError: a file does not exist.
        UsageError: a file cannot be read as cases, or two cases have one id and condition. `where`
            is `PATH:LINE`.
    """
    columns = columns or Columns()
    formats = [file_format or format_of(path) for path in paths]
    seen = _Seen([str(path) for path in paths])
    for index, (path, chosen) in enumerate(zip(paths, formats, strict=True)):
        with _open(path, stdin) as stream:
            yield from _cases(_records(stream, path, chosen, columns), index, seen, chosen, columns)


def _cases(
    records: Iterator[Record], index: int, seen: _Seen, chosen: Format, columns: Columns
) -> Iterator[Case]:
    extra = columns.extra
    if extra is Extra.AUTO:
        extra = Extra.METADATA if chosen in _DELIMITERS else Extra.ERROR
    assembler = Assembler(columns, extra=extra)
    source = seen.sources[index]
    line = 0
    for line, values in records:
        try:
            case = assembler.assemble(values)
            seen.add(case, index, line)
        except UsageError as error:
            error.where = f"{source}:{line}"
            raise
        yield case
    if not line:
        raise UsageError(
            "the file holds no cases", where=source, fix="add at least one, or leave the file out"
        )
    missing = assembler.missing()
    if missing:
        role, name = missing
        raise UsageError(
            f"no case has a {name!r} for the {role}",
            where=source,
            fix=f"check the name given for the {role}",
        )


def _records(stream: BinaryIO, path: Path, chosen: Format, columns: Columns) -> Iterator[Record]:
    source = str(path)
    if chosen is Format.JSONL:
        return jsonl.read(_bounded(stream, source), source)
    if chosen is Format.JSON:
        return json_array.read(_whole(stream, source), source)
    if chosen is Format.YAML:
        # PyYAML takes 20 ms to import; only who reads YAML pays.
        from fairtrial.interchange.dataset_files import yaml_documents  # noqa: PLC0415

        return yaml_documents.read(_whole(stream, source), source)
    return delimited.read(_lines(stream, path), source, _DELIMITERS[chosen], columns)


def _whole(stream: BinaryIO, source: str) -> bytes:
    data = stream.read(LARGEST_WHOLE + 1)
    if len(data) > LARGEST_WHOLE:
        raise UsageError(
            f"the file has more than {LARGEST_WHOLE:,} bytes, and is held as a whole",
            where=source,
            fix="write it as JSONL, which is read line by line",
        )
    return data


def _bounded(stream: TextIO | BinaryIO, source: str) -> Iterator[Any]:
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise UsageError(
                f"the line has more than {LONGEST_LINE:,} bytes", where=f"{source}:{number}"
            )
        yield line


def _lines(stream: BinaryIO, path: Path) -> Iterator[str]:
    with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        try:
            yield from _bounded(text, str(path))
        except UnicodeDecodeError as error:
            # The decoder works on blocks and knows no lines; the file is read again to find it.
            data = path.read_bytes() if path.is_file() else error.object
            raise _not_utf8(data, path) from None


def _not_utf8(data: bytes, path: Path) -> UsageError:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        problem = bad_utf8(data, error)
    else:  # the file was changed between the two reads
        problem = BrokenJson("it changes while it is read")
    return broken("the file is not UTF-8", f"{path}:{problem.line}", problem)


def _open(path: Path, stdin: BinaryIO | None) -> AbstractContextManager[BinaryIO]:
    if path == STDIN:
        return nullcontext(stdin or sys.stdin.buffer)
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise NotFoundError(
            "the file does not exist", where=str(path), fix="check the path"
        ) from None
    except IsADirectoryError:
        raise UsageError(
            "this is a folder, not a file", where=str(path), fix="name the files in it"
        ) from None
    except OSError as error:
        raise UsageError(
            "the file cannot be read", where=str(path), why=error.strerror or str(error)
        ) from None


class _Seen:
    """The places of all cases so far, to tell both places of a duplicate."""

    def __init__(self, sources: Sequence[str]) -> None:
        self.sources = sources
        self._places: dict[bytes, int] = {}

    def add(self, case: Case, index: int, line: int) -> None:
        """Note a case.

        Raises:
            UsageError: its id and condition were seen before.
        """
        # A digest, so that long ids are not kept; the length keeps the two parts apart.
        text = f"{len(case.condition)}:{case.condition}{case.id}"
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        first = self._places.get(digest)
        if first is None:
            self._places[digest] = index << 40 | line
            return
        first_place = f"{self.sources[first >> 40]}:{first & (1 << 40) - 1}"
        raise UsageError(
            f"the case {str(case.key)!r} comes twice",
            why=f"it stands at {first_place} already",
            fix="give each case an id of its own, or each variant a condition of its own",
        )

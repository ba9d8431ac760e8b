"""JSONL: one object a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fairtrial.interchange.dataset_files.json_text import BrokenJson, decode
from fairtrial.interchange.dataset_files.records import Record, broken, check_object

_BOM = b"\xef\xbb\xbf"


def read(lines: Iterable[bytes], source: str) -> Iterator[Record]:
    """Yield the object of every line that is not blank.

    Args:
        lines: The lines, each with its line end.
        source: The file's name for error messages.

    Raises:
        UsageError: a line is no JSON object.
    """
    for number, line in enumerate(lines, start=1):
        text = line.removeprefix(_BOM) if number == 1 else line
        if not text.strip():
            continue
        try:
            value = decode(text)
        except BrokenJson as problem:
            raise broken("the line is not JSON", f"{source}:{number}", problem) from None
        if type(value) is not dict:
            check_object(value, f"{source}:{number}")
        yield number, value

"""JSON: an array of objects, or an object whose `cases` is one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from fairtrial.interchange.dataset_files.json_text import (
    BrokenJson,
    decode,
    raw_items,
    raw_members,
)
from fairtrial.interchange.dataset_files.records import (
    Record,
    broken,
    check_object,
    kind_of,
    listed,
)
from fairtrial.model.errors import UsageError

_BETWEEN = re.compile(rb"[\s,]*")
_NOT_JSON = "the file is not JSON"


def read(data: bytes, source: str) -> Iterator[Record]:
    """Yield the objects of a file, decoding one at a time.

    Args:
        data: The whole file.
        source: Its name for error messages.

    Raises:
        UsageError: it is no JSON, or no array of objects.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        start, items = _items(data, source)
    except BrokenJson as problem:
        raise broken(_NOT_JSON, f"{source}:{problem.line}", problem) from None
    position, line = 0, 1
    offset = start
    for item in items:
        offset = _BETWEEN.match(data, offset).end()  # type: ignore[union-attr]  # matches always
        line += data.count(b"\n", position, offset)
        position = offset
        try:
            value = decode(item)
        except BrokenJson as problem:
            raise broken(_NOT_JSON, f"{source}:{line + problem.line - 1}", problem) from None
        check_object(value, f"{source}:{line}")
        yield line, value
        offset += len(memoryview(item))


def _items(data: bytes, source: str) -> tuple[int, list[msgspec.Raw]]:
    """Return where the array's first item may start, and the items."""
    first = data.lstrip()[:1]
    if first == b"[":
        return data.index(b"[") + 1, raw_items(data)
    if first != b"{":
        value = decode(data)
        raise UsageError(
            f"the file must hold an array of cases, this is {kind_of(value)}", where=source
        )
    members = raw_members(data)
    cases = bytes(members.get("cases", b""))
    if set(members) != {"cases"} or not cases.startswith(b"["):
        keys = f"the keys {listed(members)}" if members else "no key"
        raise UsageError(
            f"the file holds one object with {keys}, not an array of cases",
            where=source,
            fix='write [{"input": …}, …] or {"cases": [{"input": …}, …]}; '
            "one object a line is JSONL (.jsonl)",
        )
    # The text of the array may come earlier only as a part of itself: it is the only member.
    return data.index(cases) + 1, raw_items(cases)

"""Strict JSON: finite numbers, whole characters, and errors that say where."""

from __future__ import annotations

import json
import re
from typing import NoReturn

import msgspec

from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json

_DECODER = msgspec.json.Decoder()
_ARRAY_DECODER = msgspec.json.Decoder(list[msgspec.Raw])
_OBJECT_DECODER = msgspec.json.Decoder(dict[str, msgspec.Raw])
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOO_DEEP = "it is nested too deeply"


class BrokenJson(Exception):  # noqa: N818  # a finding that the caller turns into an error
    """A text is not the JSON that a dataset may hold.

    Attributes:
        why: What is wrong with it.
        line: The line within the text, from 1.
        column: The column within the line, from 1; None when it is not known.
    """

    def __init__(self, why: str, line: int = 1, column: int | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.line = line
        self.column = column


def decode(data: bytes | memoryview | msgspec.Raw | str) -> Json:
    """Return a JSON text's value; of a key that comes twice in an object, the last.

    Raises:
        BrokenJson: it is malformed, not UTF-8, nested too deeply, or holds a number that is not
            finite or an unpaired surrogate.
    """
    try:
        return _DECODER.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        _explain(data if isinstance(data, str) else bytes(data), error)


def raw_items(data: bytes | msgspec.Raw) -> list[msgspec.Raw]:
    """Return the items of a JSON array, each still undecoded.

    Raises:
        BrokenJson: as for `decode`.
    """
    try:
        return _ARRAY_DECODER.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        _explain(bytes(data), error)


def raw_members(data: bytes) -> dict[str, msgspec.Raw]:
    """Return the members of a JSON object, each still undecoded.

    Raises:
        BrokenJson: as for `decode`.
    """
    try:
        return _OBJECT_DECODER.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        _explain(data, error)


def encode(value: Json) -> str:
    """Return a value as JSON on one line, readable and strict.

    Raises:
        UsageError: it holds NaN, an infinity or something that is no JSON value.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError("a case is not JSON", why=str(error)) from None


def bad_utf8(data: bytes, error: UnicodeDecodeError) -> BrokenJson:
    """Return what is wrong with bytes that are not UTF-8."""
    line = data.count(b"\n", 0, error.start) + 1
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return BrokenJson("it is UTF-16, not UTF-8", line)
    return BrokenJson(f"byte 0x{data[error.start]:02x} is not UTF-8", line)


def _explain(data: bytes | str, error: Exception) -> NoReturn:
    """Say precisely what is wrong: msgspec is fast, the standard parser words it better."""
    try:
        text = data if isinstance(data, str) else data.decode()
        value = json.loads(text, parse_constant=_refuse_constant)
    except UnicodeDecodeError as problem:
        raise bad_utf8(problem.object, problem) from None
    except json.JSONDecodeError as problem:
        why = problem.msg[0].lower() + problem.msg[1:]
        raise BrokenJson(why, problem.lineno, problem.colno) from None
    except RecursionError:
        raise BrokenJson(_TOO_DEEP) from None
    except ValueError as problem:  # an integer of thousands of digits
        raise BrokenJson(str(problem)) from None
    if isinstance(error, RecursionError):
        raise BrokenJson(_TOO_DEEP) from None
    found = _SURROGATE.search(json.dumps(value, ensure_ascii=False))
    if found:
        why = f"\\u{ord(found[0]):04x} is half of a surrogate pair, which is no character"
        raise BrokenJson(why) from None
    raise BrokenJson(str(error)[0].lower() + str(error)[1:]) from None


def _refuse_constant(name: str) -> NoReturn:
    raise BrokenJson(f"{name} is not a JSON number")

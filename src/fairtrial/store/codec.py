"""How values are written into columns, and read back unchanged."""

from __future__ import annotations

import dataclasses
import json
import sys
import zlib
from array import array
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from typing import Any

import msgspec

from fairtrial.model.attempt import Attempt, Rerun
from fairtrial.model.json import Json
from fairtrial.model.task import Reused, Tokens
from fairtrial.model.verdict import Cause, Verdict

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) + _DAY - _EPOCH) // _MICROSECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - _DAY - _EPOCH) // _MICROSECOND
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder()


def to_json(value: Json) -> bytes:
    """Return the JSON text of a value; dataclasses in it become objects.

    The order of keys is kept. Half a surrogate pair, which UTF-8 cannot hold, is escaped.

    Raises:
        TypeError: the value is no JSON value.
    """
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, default=_plain, separators=(",", ":")).encode()


def from_json(data: bytes | str) -> Json:
    """Return the value of a text that `to_json` wrote."""
    try:
        return _DECODER.decode(data)
    except msgspec.DecodeError:
        # The fast decoder refuses half a surrogate pair.
        return json.loads(data)


def reused_of(text: str | None) -> Reused | None:
    """Return what a trial reused, from the JSON text of it."""
    if text is None:
        return None
    fields = from_json(text)
    return Reused(**{**fields, "tokens": tokens_of(fields["tokens"])})


def tokens_of(fields: Json) -> Tokens | None:
    """Return tokens from the JSON object of them."""
    return None if fields is None else Tokens(**fields)


def attempt_of(fields: Json) -> Attempt:
    """Return an attempt from the JSON object of it."""
    verdict, cause = Verdict(fields["verdict"]), fields["cause"]
    told = {
        "verdict": verdict,
        "cause": None if cause is None else Cause(cause),
        "tokens": tokens_of(fields["tokens"]),
    }
    return Attempt(**{**fields, **told})


def rerun_of(fields: Json) -> Rerun:
    """Return a rerun from the JSON object of it."""
    return Rerun(**{**fields, "verdict": Verdict(fields["verdict"])})


def _plain(value: Any) -> Json:
    """Turn what only the fast encoder knows into a JSON value."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def to_micros(when: datetime) -> int:
    """Return microseconds since 1970 (UTC), of an instant that every time zone can show."""
    return _shown((when - _EPOCH) // _MICROSECOND)


def from_micros(micros: int) -> datetime:
    """Return the instant that `to_micros` was given, in UTC."""
    return _EPOCH + timedelta(microseconds=_shown(micros))


def _shown(micros: int) -> int:
    """Return an instant, or the nearest whose date exists wherever one is."""
    return max(_FIRST, min(micros, _LAST))


def to_text(text: str | None) -> str | None:
    """Return a text that every database can hold: half a surrogate pair becomes `?`."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


def to_packed(numbers: Sequence[int]) -> bytes:
    """Return integers of up to 31 bits as the packed steps between them.

    The cases of an experiment mostly follow each other, so 100,000 take a few hundred bytes.
    """
    steps = array("i", numbers[:1])
    steps.extend(after - before for before, after in pairwise(numbers))
    if sys.byteorder == "big":  # pragma: no cover
        steps.byteswap()
    return zlib.compress(steps.tobytes(), 1)


def from_packed(data: bytes) -> list[int]:
    """Return the integers that `to_packed` was given."""
    steps = array("i")
    steps.frombytes(zlib.decompress(data))
    if sys.byteorder == "big":  # pragma: no cover
        steps.byteswap()
    return list(accumulate(steps))

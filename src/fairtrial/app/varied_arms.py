"""What `--vary` says: the changes of two arms."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fairtrial.app.chosen_calls import ChosenCall
from fairtrial.model.call import WireCall
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.schema.text_files import text_given
from fairtrial.wire.varying import NoSuchFieldError, system_of, varied

_WHERE = "--vary"
_TEXTS = ("model", "system")
"""Fields whose values are texts whatever they look like."""
_COMMA = re.compile(r"(?<!\\),")
_HOW = "write KEY=B, or KEY=A,B; a comma within a value is written \\,"


class Arms(NamedTuple):
    """What each arm changes of a request, by the name of the field."""

    a: dict[str, Json]
    b: dict[str, Json]


def varied_arms(words: Sequence[str], folder: Path) -> Arms:
    """Return the changes that `--vary` asks for.

    Args:
        words: The values of the option.
        folder: Where relative paths start.

    Raises:
        UsageError: one is no KEY=VALUE, has more than two values, or both arms are the same.
    """
    arms = Arms({}, {})
    for word in words:
        key, equals, text = word.partition("=")
        key = key.strip()
        if not equals or not all(key.split(".")):
            raise UsageError(f"{word!r} names no field", where=_WHERE, fix=_HOW)
        if key == "model" and not text.strip():
            raise UsageError("'model=' names no model", where=_WHERE, fix=_HOW)
        if key in arms.b:
            raise UsageError(f"{key} is varied twice", where=_WHERE, fix=_HOW)
        values = [_value(key, value, folder) for value in _split(text)]
        if len(values) > 2:
            raise UsageError(f"{key} has {len(values)} values", where=_WHERE, fix=_HOW)
        arms.b[key] = values[-1]
        if len(values) == 2:
            arms.a[key] = values[0]
    if not arms.b:
        raise UsageError("nothing is varied", fix="say what, e.g. --vary model=MODEL")
    if arms.a == arms.b:
        raise UsageError("both arms send the same", where=_WHERE, fix="give two different values")
    return arms


def unchanged(chosen: Sequence[ChosenCall], changes: dict[str, Json]) -> list[str]:
    """Return the ids of the calls that an arm sends just as they were recorded.

    Raises:
        UsageError: a field cannot be set in one of the calls.
    """
    same = []
    for one in chosen:
        call = wire_call(one)
        try:
            made = varied(call, changes)
        except NoSuchFieldError as error:
            raise UsageError(str(error), where=f"{_WHERE}, in {one.call.id}") from None
        if made.body == call.body or _same_words(call, made):
            same.append(one.call.id)
    return same


def wire_call(one: ChosenCall) -> WireCall:
    """Return a recorded call as it was sent."""
    given = one.case.input
    return WireCall(one.api, given["body"], given["headers"])


def _same_words(call: WireCall, made: WireCall) -> bool:
    """Return whether only the form of the instructions differs."""
    plain = [varied(one, {"system": None}).body for one in (call, made)]
    return plain[0] == plain[1] and system_of(call) == system_of(made)


def _split(text: str) -> list[str]:
    """Return the values of a text: one that is JSON as a whole is not taken apart."""
    if text[:1] in ("{", "[", '"'):
        try:
            json.loads(text)
        except ValueError:
            pass
        else:
            return [text]
    return [part.replace("\\,", ",") for part in _COMMA.split(text)]


def _value(key: str, text: str, folder: Path) -> Json:
    given = text_given(text, folder, f"{_WHERE} {key}")
    if text == "null":
        return None
    if key in _TEXTS and not (key == "system" and text[:1] in ("{", "[", '"')):
        return given
    try:
        return json.loads(given)
    except (RecursionError, ValueError):
        return given

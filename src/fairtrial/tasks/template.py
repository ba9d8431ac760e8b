"""Templates: JSON with places for what a call is about, such as `{{input.question}}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from fairtrial.model.errors import TaskError, UsageError
from fairtrial.model.json import Json
from fairtrial.model.task import TaskCall
from fairtrial.schema.decoding import unknown_name
from fairtrial.tasks.envelope import json_bytes

Fill: TypeAlias = Callable[[TaskCall], Json]

_PLACE: Final = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_ROOTS: Final[Mapping[str, Fill]] = {
    "input": lambda call: call.case.input,
    "case_id": lambda call: call.case.id,
    "condition": lambda call: call.case.condition,
    "metadata": lambda call: call.case.metadata,
    "arm": lambda call: call.arm,
    "trial": lambda call: call.trial,
    "attempt": lambda call: call.attempt,
    "seed": lambda call: call.seed,
}


def compile_template(template: Json, where: str) -> Fill:
    """Return the function that fills a template for a call.

    A text that is nothing but one place becomes the value itself, of whatever JSON type; a place
    within a text becomes text (JSON text when the value is no text).

    Raises:
        UsageError: a place names nothing that a task may know.
    """
    if isinstance(template, str):
        return _compile_text(template, where)
    if isinstance(template, Mapping):
        parts = {name: compile_template(part, where) for name, part in template.items()}
        return lambda call: {name: part(call) for name, part in parts.items()}
    if isinstance(template, list | tuple):
        items = [compile_template(item, where) for item in template]
        return lambda call: [item(call) for item in items]
    return lambda _: template


def as_text(value: Json) -> str:
    """Return a text as it is, and any other JSON value as JSON text."""
    return value if isinstance(value, str) else json_bytes(value).decode()


def _compile_text(template: str, where: str) -> Fill:
    # `split` with a group alternates texts and places: text, place, text, …, text.
    pieces = _PLACE.split(template)
    if len(pieces) == 1:
        return lambda _: template
    fills = [_compile_place(place, where) for place in pieces[1::2]]
    if pieces[0] == pieces[2] == "" and len(pieces) == 3:
        return fills[0]
    texts = pieces[0::2]

    def fill(call: TaskCall) -> str:
        filled = [texts[0]]
        for value, text in zip(fills, texts[1:], strict=True):
            filled += (as_text(value(call)), text)
        return "".join(filled)

    return fill


def _compile_place(place: str, where: str) -> Fill:
    root, *path = place.split(".")
    if root not in _ROOTS:
        reason = "a task never sees what is expected" if root == "expected" else None
        raise UsageError(f"{{{{{place}}}}}: {unknown_name(root, _ROOTS)}", where=where, why=reason)
    start = _ROOTS[root]
    if not path:
        return start

    def fill(call: TaskCall) -> Json:
        value = start(call)
        for step in path:
            value = _step(value, step, place)
        return value

    return fill


def _step(value: Json, step: str, place: str) -> Json:
    if isinstance(value, Mapping) and step in value:
        return value[step]
    if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
        return value[int(step)]
    raise TaskError(f"the case has nothing for {{{{{place}}}}}: no {step!r} there")

"""From JSON values to a typed dataclass, with errors that say what to do."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from fairtrial.model.errors import UsageError
from fairtrial.schema.fields import Option, is_group, options_of

T = TypeVar("T")


def decode(kind: type[T], values: Mapping[str, Any], where: str | None) -> T:
    """Return the dataclass that `values` describe.

    Args:
        kind: A frozen dataclass of options and groups of options.
        values: Option names with JSON values; groups are not named.
        where: What the values come from, for error messages; None for a command line, whose
            options are then called by their flags.

    Raises:
        UsageError: an unknown name, a missing or a mistyped value; all are told at once.
    """
    options = {option.name: option for option in options_of(kind)}
    problems = [unknown_name(name, options) for name in values if name not in options]
    problems += [
        f"{_called(option, where)} is missing"
        for name, option in options.items()
        if option.required and name not in values
    ]
    typed: dict[tuple[str, ...], Any] = {}
    for name in values:
        if name in options:
            try:
                typed[options[name].path] = convert(options[name], values[name])
            except msgspec.ValidationError as error:
                called = _called(options[name], where)
                problems.append(f"{called}: {_sentence(error, values[name])}")
    if problems:
        raise UsageError("; ".join(problems), where=where)
    return _assemble(kind, typed, ())


def convert(option: Option, value: Any) -> Any:
    """Return a JSON value as an option's type.

    Raises:
        msgspec.ValidationError: it does not fit.
    """
    return msgspec.convert(value, option.type, strict=True, dec_hook=_construct)


def unknown_name(name: str, known: Iterable[str]) -> str:
    """Return the sentence for a name that does not exist, with the nearest one that does."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    return f"unknown {name!r} ({hint})"


def _called(option: Option, where: str | None) -> str:
    return option.flag if where is None else repr(option.name)


def _construct(kind: type, value: Any) -> Any:
    if isinstance(value, kind):
        return value
    if isinstance(value, str):
        return kind(value)
    raise msgspec.ValidationError(f"Expected `str`, got `{type(value).__name__}`")


def _sentence(error: msgspec.ValidationError, value: Any) -> str:
    text = str(error).replace("Expected", "expected").replace(" - at `$`", "").replace("`", "")
    shown = repr(value)
    return text if "got" in text or len(shown) > 40 else f"{text}, got {shown}"


def _assemble(kind: type[T], typed: Mapping[tuple[str, ...], Any], path: tuple[str, ...]) -> T:
    arguments: dict[str, Any] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        here = (*path, field.name)
        if is_group(field):
            arguments[field.name] = _assemble(field.default_factory, typed, here)  # type: ignore[arg-type]
        elif here in typed:
            arguments[field.name] = typed[here]
    return kind(**arguments)

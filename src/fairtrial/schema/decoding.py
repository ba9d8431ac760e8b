"""From JSON values to a typed dataclass, with errors that say what to do."""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from fairtrial.model.errors import UsageError
from fairtrial.schema.fields import JSON_OR_FILE, Option, is_group, options_of

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
        missing(option) if where is None else f"{option.name!r} is missing"
        for name, option in options.items()
        if option.required and name not in values
    ]
    typed: dict[tuple[str, ...], Any] = {}
    for name in values:
        if name in options:
            try:
                if not isinstance(values[name], float):  # whose own sentences say more
                    _check_json(values[name])
                typed[options[name].path] = convert(options[name], values[name])
            except msgspec.ValidationError as error:
                called = _called(options[name], where)
                problems.append(f"{called}: {_sentence(error, options[name], values[name])}")
    if problems:
        raise UsageError("; ".join(problems), where=where)
    return _assemble(kind, typed, ())


def _check_json(value: Any) -> None:
    """Check that a value can be stored; what is no JSON value at all, such as a path, can.

    Raises:
        msgspec.ValidationError: it holds what JSON or UTF-8 cannot, such as NaN.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=lambda _: None)
        text.encode()
    except UnicodeEncodeError:
        raise msgspec.ValidationError("expected text in UTF-8") from None
    except (TypeError, ValueError) as error:
        raise msgspec.ValidationError(f"expected JSON: {error}") from None
    except RecursionError:
        raise msgspec.ValidationError("expected less nesting") from None


def missing(option: Option) -> str:
    """Return the sentence for an option that a command line must give, with its meaning."""
    return f"{option.flag} is missing" + (f": {option.doc}" if option.doc else "")


def convert(option: Option, value: Any) -> Any:
    """Return a JSON value as an option's type.

    Raises:
        msgspec.ValidationError: it does not fit.
    """
    return msgspec.convert(value, option.type, strict=True, dec_hook=_construct)


def unknown_name(name: str, known: Iterable[str], kind: str = "") -> str:
    """Return the sentence for a name that does not exist, with the nearest one that does.

    Args:
        name: The name.
        known: The names that exist.
        kind: What the names are names of, with a space behind.
    """
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    return f"unknown {kind}{name!r} ({hint})"


def _called(option: Option, where: str | None) -> str:
    return option.flag if where is None else repr(option.name)


def _construct(kind: type, value: Any) -> Any:
    if isinstance(value, kind):
        return value
    if isinstance(value, str):
        return kind(value)
    raise msgspec.ValidationError(f"Expected `str`, got `{type(value).__name__}`")


def _sentence(error: msgspec.ValidationError, option: Option, value: Any) -> str:
    if isinstance(value, str) and option.command_line.metavar == JSON_OR_FILE:
        example = '{"kind": "command", "command": "./my-program"}'
        return f"expected a JSON object like {example}, or a file that holds one, got {value!r}"
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

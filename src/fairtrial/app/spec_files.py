"""From what a user gave (a spec file, options, inline JSON, paths) to a typed request."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fairtrial.app.paths import user_path
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.schema.decoding import decode, unknown_name
from fairtrial.schema.fields import JSON_OR_FILE, options_of
from fairtrial.schema.text_files import refuse_endless

SUFFIXES = (".json", ".yaml", ".yml", ".toml")
_CASES = (".csv", ".jsonl", ".tsv")
_MOST_VALUES = 1_000_000
_LARGEST = 64 * 1024 * 1024
"""Bytes of a file. What a link leads to, such as /dev/zero, may have no end."""


def build_request(kind: type[Any], given: Mapping[str, Any], cwd: Path) -> Any:
    """Return a request from the options that were given, laid over the spec file if there is one.

    Args:
        kind: The request's class.
        given: Option names with values; inline JSON and paths still as text.
        cwd: Where relative paths start.

    Raises:
        UsageError: a name or a value is wrong.
        NotFoundError: a file does not exist.
    """
    values = {name: _loaded(kind, name, value, cwd) for name, value in given.items()}
    either = getattr(kind, "EXPERIMENT_OR_SPEC", None)
    if either is not None and Path(values.get(either, "")).suffix in SUFFIXES:
        values["spec"] = values.pop(either)
    request = decode(kind, values, None)
    if values.get("spec") is None:
        return request
    path = user_path(values["spec"], cwd)
    spec = read_document(path)
    if not isinstance(spec, dict):
        raise UsageError("a spec is an object of options", where=str(path))
    if "spec" in spec:
        raise UsageError("a spec cannot name another spec", where=str(path))
    spec = {
        name: _loaded(kind, name, value, path.parent) if value is not None else None
        for name, value in _wanted_of(kind, spec, path).items()
    }
    needed = {o.name: values[o.name] for o in options_of(kind) if o.required}
    decode(kind, {**needed, **spec}, str(path))
    if not values.get("replace_graders") and "graders" in values:
        values["graders"] = [*spec.get("graders", ()), *values["graders"]]
    return decode(kind, {**spec, **values, "spec": path}, str(path))


def _wanted_of(kind: type[Any], spec: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """Return what a verb takes of a spec: what it has options for, or its `SPEC_KEYS` alone.

    What it does not take must still be what a spec may hold: a typing error is told everywhere.
    """
    # 10 ms, and most commands are given no spec.
    from fairtrial.app.requests.exp_run import Request as RunRequest  # noqa: PLC0415

    if kind is RunRequest:
        return spec
    if getattr(kind, "SPEC_OF_ITS_OWN", False):
        flags = {option.flag.lstrip("-").replace("-", "_"): option for option in options_of(kind)}
        return {flags[name].name if name in flags else name: value for name, value in spec.items()}
    known = {option.name for option in options_of(RunRequest)}
    unknown = [unknown_name(name, known) for name in spec if name not in known]
    if unknown:
        raise UsageError("; ".join(unknown), where=str(path))
    keys = getattr(kind, "SPEC_KEYS", {option.name for option in options_of(kind)})
    return {name: value for name, value in spec.items() if name in keys}


def _loaded(kind: type[Any], name: str, value: Any, folder: Path) -> Any:
    """Return a value with its inline JSON parsed and its files read."""
    option = next((option for option in options_of(kind) if option.name == name), None)
    if option is None or option.command_line.metavar != JSON_OR_FILE:
        return value
    if isinstance(value, list | tuple):
        return [_json_or_file(item, folder, option.flag) for item in value]
    return _json_or_file(value, folder, option.flag)


def _json_or_file(value: Any, folder: Path, where: str) -> Any:
    """Return a JSON value from text that is JSON or names a file; a bare word stays a word."""
    if not isinstance(value, str):
        return value
    if value.lstrip()[:1] in ("{", "["):
        try:
            return json_value(value)
        except (RecursionError, ValueError) as error:
            raise UsageError(f"not JSON: {error}", where=f"{where} {value[:60]}") from None
    if Path(value).suffix in SUFFIXES:
        return read_document(user_path(value, folder))
    return value


def read_document(path: Path) -> Any:
    """Return the content of a JSON, YAML or TOML file.

    Raises:
        NotFoundError: it does not exist.
        UsageError: it cannot be read or parsed; the message has the line.
    """
    parser = _PARSERS.get(path.suffix)
    if parser is None:
        known = ", ".join(SUFFIXES)
        cases = f"for a file of cases: fairtrial dataset add NAME {path.name}"
        raise UsageError(
            f"unknown kind of file {path.suffix!r}; known: {known}",
            where=str(path),
            fix=cases if path.suffix in _CASES else None,
        )
    try:
        refuse_endless(path)
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        raise NotFoundError("no such file", where=str(path)) from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError as error:
        raise UsageError(
            "is not UTF-8 text",
            where=str(path),
            why=f"byte {error.object[error.start]:#04x} at offset {error.start:,}",
        ) from None
    if len(content) > _LARGEST:
        raise UsageError(f"has more than {_LARGEST:,} bytes", where=str(path))
    try:
        return parser(text)
    except (RecursionError, ValueError) as error:
        raise UsageError(f"cannot be parsed: {_line(error)}", where=str(path)) from None


def yaml_value(text: str, where: str) -> Any:
    """Return the value of a text of YAML or JSON.

    Raises:
        UsageError: it cannot be parsed; the message has the line.
    """
    try:
        return _yaml(text)
    except (RecursionError, ValueError) as error:
        raise UsageError(f"cannot be parsed: {_line(error)}", where=where) from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


def json_value(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is none, or an object has a field twice: the first would silently not count.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, object_pairs_hook=_distinct)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object holds {twice!r} twice")
    return found


def _yaml(text: str) -> Any:
    from fairtrial.app.yaml_specs import load  # noqa: PLC0415  # only YAML files need it

    value = load(text)
    _refuse_no_json(value)
    return value


def _toml(text: str) -> Any:
    value = tomllib.loads(text)
    _refuse_no_json(value)
    return value


def _refuse_no_json(value: Any) -> None:
    """Refuse values that JSON has not, and what aliases make too large to go through.

    A few lines can hold billions of values.
    """
    left, seen = [value], 0
    while left:
        part = left.pop()
        seen += 1
        if seen + len(left) > _MOST_VALUES:
            raise ValueError(f"its aliases stand for more than {_MOST_VALUES:,} values")
        if isinstance(part, dict):
            left.extend(part.values())
        elif isinstance(part, list):
            left.extend(part)
        elif not isinstance(part, str | int | float | None):
            kind = type(part).__name__
            raise ValueError(f"{part} is read as a {kind}, which JSON has not: put it in quotes")  # noqa: TRY004  # all that is wrong with a text is one


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    ".json": json_value,
    ".toml": _toml,
    ".yaml": _yaml,
    ".yml": _yaml,
}

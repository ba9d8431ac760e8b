"""From words on a command line to the options that were given."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from cyclopts import (
    App,
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    Parameter,
    Token,
    UnusedCliTokensError,
)

from fairtrial.app.verbs import Verb
from fairtrial.cli.arguments import Arguments
from fairtrial.model.errors import UsageError
from fairtrial.schema.decoding import missing
from fairtrial.schema.fields import Option, options_of

_DASH = "\0-"
"""Stands for `-` while a line is read: alone it is a path or a word, and no option."""


def parse(verb: Verb, words: Sequence[str]) -> Arguments:
    """Return what the words after a verb's name say.

    Raises:
        UsageError: an option is unknown (the nearest is suggested), or its value does not fit.
    """
    options = options_of(verb.request())
    try:
        # Declaring an option takes 1 ms, so only those that the line may hold are declared at
        # first; a line with an error is read once more, to name the nearest of all options.
        named = [option for option in options if _may_be_on(option, words)]
        return _parsed(named, words)
    except CycloptsError:
        pass
    try:
        return _parsed(options, words)
    except CycloptsError as error:
        raise UsageError(
            _sentence(error, options), fix=f"see: fairtrial {verb.name} --help"
        ) from None


def _sentence(error: CycloptsError, options: Sequence[Option]) -> str:
    """Return what is wrong with a line; what is not there at all is told with its meaning."""
    if isinstance(error, MissingArgumentError) and error.keyword is None and error.argument:
        named = [option for option in options if option.flag == error.argument.name]
        if named:
            return missing(named[0])
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        return f"{error.unused_tokens[0]!r} is one argument too many"
    return " ".join(str(error).replace(_DASH, "-").split())


def _may_be_on(option: Option, words: Sequence[str]) -> bool:
    line = option.command_line
    names = tuple(name for name in (option.flag, option.negative, line.short) if name)
    return line.positional or any(word.startswith(names) for word in words)


def _parsed(options: Sequence[Option], words: Sequence[str]) -> Arguments:
    app = App(help_flags=(), version_flags=(), result_action="return_value")
    app.default(_collector(options))
    values: dict[str, Any] = app(
        _with_bare_values(options, words), exit_on_error=False, print_error=False
    )
    as_json = bool(values.pop("json", False))
    return Arguments(values, as_json)


def _collector(options: Sequence[Option]) -> Any:
    """Return a function with a parameter an option, that returns those it was called with."""

    def collect(*arguments: Any, **named: Any) -> dict[str, Any]:
        bound = signature.bind(*arguments, **named).arguments
        return {name: _dashed(value) for name, value in bound.items() if value is not None}

    parameters = [_parameter(option) for option in options if not option.command_line.hidden]
    parameters.sort(key=lambda parameter: parameter.kind)
    flag = Annotated[bool | None, Parameter(name="--json", negative=())]
    parameters.append(
        inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=flag)
    )
    signature = inspect.Signature(parameters)
    collect.__signature__ = signature  # type: ignore[attr-defined]
    return collect


def _dashed(value: Any) -> Any:
    if isinstance(value, list):
        return [_dashed(entry) for entry in value]
    if isinstance(value, str):
        return "-" if value == _DASH else value
    return Path("-") if value == Path(_DASH) else value


def _parameter(option: Option) -> inspect.Parameter:
    line = option.command_line
    names = [name for name in (option.flag, line.short) if name]
    kind = _kind(option)
    about = Parameter(
        name=None if line.positional else names,
        negative=option.negative or (),
        converter=_whole_number if kind is int else None,
    )
    return inspect.Parameter(
        option.name,
        inspect.Parameter.POSITIONAL_ONLY if line.positional else inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if option.required else None,
        annotation=Annotated[kind if option.required else kind | None, about],
    )


def _kind(option: Option) -> Any:
    """Return the type that a command line can give: one of text, number, flag, path, or a list."""
    kinds = [kind for kind in _members(option.type) if kind is not NoneType]
    for kind in kinds:
        if get_origin(kind) is tuple:
            element = get_args(kind)[0]
            return list[Path] if element is Path else list[str]
    if len(kinds) == 1 and (kinds[0] in (bool, int, float, str, Path) or _is_choice(kinds[0])):
        return kinds[0]
    return str


def _whole_number(_kind: Any, tokens: Sequence[Token]) -> int:
    # cyclopts would round 1.5 to 2.
    try:
        return int(tokens[0].value)
    except ValueError:
        raise CoercionError(token=tokens[0], target_type=int) from None


def _members(kind: Any) -> Sequence[Any]:
    if get_origin(kind) is Annotated:
        return _members(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [member for part in get_args(kind) for member in _members(part)]
    return [kind]


def _is_choice(kind: Any) -> bool:
    return get_origin(kind) is Literal


def _with_bare_values(options: Sequence[Option], words: Sequence[str]) -> list[str]:
    """Give the flags that may stand alone their value when they do.

    What follows such a flag is its value unless it is another flag, or a file: `--resume spec.yaml`
    resumes what the spec describes.
    """
    bare = {o.flag: o.command_line.bare for o in options if o.command_line.bare}
    done: list[str] = []
    for index, word in enumerate(words):
        if word == "--":  # what follows is another program's
            return [*done, *words[index:]]
        done.append(_DASH if word == "-" else word)
        following = words[index + 1] if index + 1 < len(words) else "-"
        if word in bare and (following.startswith("-") or Path(following).suffix):
            done[-1] = f"{word}={bare[word]}"
    return done

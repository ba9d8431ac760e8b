"""What a command line says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fairtrial.app.verbs import Verb
from fairtrial.schema.fields import Option, options_of

_TEXT: Final = (str, str | None)


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a command line says.

    Attributes:
        given: The options that were given, by name; the others are absent.
        json: Whether `--json` was.
    """

    given: Mapping[str, Any]
    json: bool


def arguments_of(verb: Verb, words: Sequence[str]) -> Arguments:
    """Return what the words after a verb's name say.

    Raises:
        UsageError: an option is unknown (the nearest is suggested), or its value does not fit.
    """
    plain = _plain(options_of(verb.request()), words)
    if plain is not None:
        return plain
    from fairtrial.cli.parsing import parse  # noqa: PLC0415  # cyclopts takes a tenth of a second

    return parse(verb, words)


def _plain(options: Sequence[Option], words: Sequence[str]) -> Arguments | None:
    """Return what a line says that holds nothing but texts and `--json`; None for any other.

    A text stands alone, or after the flag of an option that takes one.
    """
    flags = {option.flag: option.name for option in options if _takes_text(option)}
    given: dict[str, Any] = {}
    alone: list[str] = []
    flag: str | None = None
    as_json = False
    for word in words:
        if flag is None and word == "--json" and not as_json:
            as_json = True
        elif flag is None and word in flags and flags[word] not in given:
            flag = word
        elif word[:1] in ("", "-"):
            return None
        elif flag is not None:
            given[flags[flag]] = word
            flag = None
        else:
            alone.append(word)
    if flag is not None:
        return None
    taken = [option for option in options if option.command_line.positional][: len(alone)]
    if len(taken) < len(alone) or any(option.type not in _TEXT for option in taken):
        return None
    given |= {option.name: text for option, text in zip(taken, alone, strict=True)}
    if any(option.required and option.name not in given for option in options):
        return None
    return Arguments(given, as_json)


def _takes_text(option: Option) -> bool:
    line = option.command_line
    return option.type in _TEXT and not (line.positional or line.hidden or line.bare)

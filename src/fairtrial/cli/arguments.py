"""What a command line says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairtrial.app.verbs import Verb
from fairtrial.schema.fields import Option, options_of


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
    """Return what a line says that holds nothing but texts and `--json`; None for any other."""
    texts = [word for word in words if word != "--json"]
    if len(words) - len(texts) > 1 or any(word[:1] in ("", "-") for word in texts):
        return None
    taken = [option for option in options if option.command_line.positional][: len(texts)]
    if len(taken) < len(texts) or any(option.type not in (str, str | None) for option in taken):
        return None
    if any(option.required and option not in taken for option in options):
        return None
    given = {option.name: text for option, text in zip(taken, texts, strict=True)}
    return Arguments(given, json=len(texts) < len(words))

"""What a command line says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairtrial.app.verbs import Verb
from fairtrial.schema.fields import options_of


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
    needed = any(option.required for option in options_of(verb.request()))
    if not needed and set(words) <= {"--json"}:
        return Arguments({}, json=bool(words))
    from fairtrial.cli.parsing import parse  # noqa: PLC0415  # cyclopts takes a tenth of a second

    return parse(verb, words)

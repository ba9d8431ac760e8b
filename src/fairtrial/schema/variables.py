"""`${NAME}` in an option: a variable of the environment, kept out of the spec."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from fairtrial.model.errors import UsageError

SHORTEST_SECRET: Final = 6
"""Hiding a shorter value, such as `1` or `prod`, would garble messages and protect nothing."""
_REFERENCE = re.compile(r"\$(\$?)\{([^{}]*)\}")


def references(text: str) -> set[str]:
    """Return the names of the variables that `substitute` puts into a text."""
    return {name for escaped, name in _REFERENCE.findall(text) if not escaped}


def substitute(text: str, environ: Mapping[str, str], where: str) -> str:
    """Return a text with each `${NAME}` replaced by that variable; `$${NAME}` stays as `${NAME}`.

    Raises:
        UsageError: a variable is not set.
    """

    def value_of(match: re.Match[str]) -> str:
        escaped, name = match.groups()
        if escaped:
            return match[0][1:]
        if name not in environ:
            raise UsageError(
                f"${{{name}}} is not set",
                where=where,
                fix=f"set {name} in the environment, or write $${{{name}}} for the text itself",
            )
        return environ[name]

    return _REFERENCE.sub(value_of, text)


def secrets_of(texts: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the values that `substitute` puts into texts, each with the name of its variable."""
    names = {name for text in texts for name in references(text)}
    return {
        environ[name].strip(): name
        for name in sorted(names)
        if len(environ.get(name, "").strip()) >= SHORTEST_SECRET
    }

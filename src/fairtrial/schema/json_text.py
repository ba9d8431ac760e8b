"""JSON that a model or a program wrote into a text."""

from __future__ import annotations

import json

from fairtrial.model.json import Json

_FENCE = "```"


def parse_json(text: str) -> Json:
    """Return the value that a text holds, alone or as the one fenced block of a Markdown text.

    Raises:
        ValueError: it is no JSON; NaN and infinities are none.
        RecursionError: it is nested too deeply to be read.
    """
    return json.loads(_unfenced(text.strip()), parse_constant=_refuse)


def _unfenced(text: str) -> str:
    # By hand: a pattern with three repeats would take cubic time on a text of line ends.
    first, line_end, rest = text.partition("\n")
    if line_end and first.startswith(_FENCE) and rest.endswith(_FENCE):
        return rest.removesuffix(_FENCE)
    return text


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is no JSON number")

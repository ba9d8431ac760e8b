"""HTTP headers as options."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fairtrial.model.errors import UsageError
from fairtrial.schema.variables import substitute

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def filled_header(name: str, value: str, environ: Mapping[str, str], where: str) -> str:
    """Return a header's value with `${NAME}` filled in.

    Raises:
        UsageError: the name or the value cannot be one, or a variable is not set.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be the name of a header", where=where)
    filled = substitute(value, environ, where).strip()
    if any(character in filled for character in "\r\n\0"):
        raise UsageError("its value has more than one line", where=where)
    return filled

"""The environment of a child process: little passes, so that secrets do not leak."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from fairtrial.model.errors import UsageError
from fairtrial.schema.variables import substitute

ALWAYS_PASSED = (
    "PATH",
    "HOME",
    "LANG",
    "LC_*",
    "TZ",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "SHELL",
    "VIRTUAL_ENV",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
"""Variables, or patterns of them, that every program gets: none of them is a secret."""

_NAME = re.compile(r"[^=\0]+")


def child_environment(
    parent: Mapping[str, str], extra: Mapping[str, str], passed: Sequence[str], where: str
) -> dict[str, str]:
    """Return the whole environment of a program.

    Args:
        parent: The environment of this process.
        extra: Variables to set; `${NAME}` in a value is the parent's variable NAME.
        passed: Names, or patterns such as `AWS_*`, that pass beside `ALWAYS_PASSED`; a name that
            is not set is no error.
        where: What the options come from, for error messages.

    Raises:
        UsageError: a value refers to a variable that is not set, or is no possible value.
    """
    patterns = (*ALWAYS_PASSED, *passed)
    child = {
        name: value
        for name, value in parent.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    for name, value in extra.items():
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be the name of a variable", where=where)
        child[name] = substitute(value, parent, f"{where}, variable {name}")
        if "\0" in child[name]:
            raise UsageError(f"the value of {name} holds a NUL character", where=where)
    return child

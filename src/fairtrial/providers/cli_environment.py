"""What a CLI is run with: its program, and of the environment no more than it needs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from fairtrial.model.errors import UsageError
from fairtrial.ports import ProcessResult, Surroundings

_PASSED: Final = (
    *("PATH", "LANG", "LC_*", "TZ", "USER", "LOGNAME", "SHELL"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
)
"""What a CLI needs to start and to reach its servers. HOME and TMPDIR are the call's own."""
_SHORTEST_KEY: Final = 8
"""Anything shorter is no key, and may stand anywhere."""
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


def cli_environment(
    environ: Mapping[str, str], key: str | None, base_url: str | None
) -> dict[str, str]:
    """Return the environment of a CLI without what is a call's own.

    Args:
        environ: The environment of this process.
        key: The name of the variable that stands in for a login.
        base_url: Where the call goes.
    """
    env = {
        name: value
        for name, value in environ.items()
        if any(fnmatchcase(name, pattern) for pattern in _PASSED)
    }
    if base_url and on_loopback(base_url):
        for name in ("NO_PROXY", "no_proxy"):
            env[name] = ",".join(filter(None, (env.get(name), *_LOOPBACK)))
    if key:
        env[key] = environ[key]
    return env


def without_key(ended: ProcessResult, key: str | None, environ: Mapping[str, str]) -> ProcessResult:
    """Return how a CLI ended without the key that it was given, should it have printed it.

    Args:
        ended: How it ended.
        key: The name of the variable that stands in for a login.
        environ: The environment of this process.
    """
    secret = environ[key] if key else ""
    if len(secret) < _SHORTEST_KEY:
        return ended
    shown = f"${{{key}}}"
    stderr = ended.usage.stderr_tail.replace(secret, shown)
    return replace(
        ended,
        stdout=ended.stdout.replace(secret.encode(), shown.encode()),
        usage=replace(ended.usage, stderr_tail=stderr),
    )


def on_loopback(url: str) -> bool:
    """Return whether an address is one of this machine."""
    try:
        return urlsplit(url).hostname in _LOOPBACK
    except ValueError:
        return False


def find_program(
    given: str | None, usual: str, surroundings: Surroundings, where: str, fix: str
) -> str:
    """Return the path of a CLI.

    Args:
        given: The name or path that the user gave.
        usual: Its name on PATH.
        surroundings: Where relative paths start, and PATH.
        where: What the options come from, for error messages.
        fix: How to install it.

    Raises:
        UsageError: there is no such program.
    """
    wanted = given or usual
    path = str(surroundings.base_dir / Path(wanted).expanduser()) if "/" in wanted else wanted
    found = shutil.which(path, path=surroundings.environ.get("PATH"))
    if found is None:
        raise UsageError(
            f"there is no program {wanted!r}",
            where=where,
            why=None if "/" in wanted else "it is in no folder of PATH",
            fix=f"{fix}; or give its path as option 'program'",
        )
    return str(Path(found).absolute())

"""Which program, and which script of a runner, a command line starts."""

from __future__ import annotations

import shlex
from functools import lru_cache
from pathlib import PurePath

_RUNNERS = ("python", "node", "deno", "bun", "ruby", "perl", "bash", "sh", "uv", "npx", "uvx")
"""Programs that run another one: the first word after them that is no option names it."""
_RUNNER_VERBS = ("run", "exec", "x")


@lru_cache(maxsize=1024)  # a list asks for the few programs of its experiments again and again
def program_words(command: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the word that names the program, and behind a runner the one that names its script.

    Args:
        command: A text for a shell, or the program and its arguments; of several commands in a
            text the first one counts.
    """
    if isinstance(command, str):
        try:
            words = shlex.split(command)
        except ValueError:  # a shell may understand it all the same
            words = command.split()
    else:
        words = list(command)
    if not words:
        return ()
    name = PurePath(words[0]).name
    if name.rstrip("0123456789.") not in _RUNNERS:
        return (words[0],)
    rest = (word for word in words[1:] if not word.startswith("-") and word not in _RUNNER_VERBS)
    script = next(rest, None)
    return (words[0],) if script is None else (words[0], script)

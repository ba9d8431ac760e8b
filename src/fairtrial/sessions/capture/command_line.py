"""The command that agents are told to call, and how to know it again."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_MARK: Final = "fairtrial hook --agent"
"""What every command of ours holds, in a shell or as words."""


def own_command(agent: str, home: Path) -> tuple[str, ...]:
    """Return the words of the command on this machine: this Python, and this data folder.

    Neither the agent's folder nor PYTHONPATH may put modules in front of Python's own.
    """
    program = (sys.executable, "-P", "-E", "-m", "fairtrial", "hook")
    return (*program, "--agent", agent, "--home", str(home))


def shared_command(agent: str) -> str:
    """Return the command for settings that a team shares: whoever has no fairtrial notices none."""
    found = "command -v fairtrial >/dev/null 2>&1"
    return f"if {found}; then fairtrial hook --agent {agent}; fi"


def in_shell(words: Sequence[str]) -> str:
    """Return a command as a shell takes it."""
    return shlex.join(words)


def is_ours(command: object) -> bool:
    """Return whether a command, a text or a list of words, is one of ours."""
    if isinstance(command, list):
        return _MARK in " ".join(str(word) for word in command)
    return isinstance(command, str) and _MARK in command

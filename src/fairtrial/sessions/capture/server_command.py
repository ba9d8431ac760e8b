"""How agents start the MCP server, and how to know it again among theirs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

NAME: Final = "fairtrial"
"""What the server is called in the settings of agents: their tools are called after it."""
_OWN: Final = ("-P", "-E", "-m", "fairtrial", "mcp")
_HOME: Final = "FAIRTRIAL_HOME"


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """How the server is started.

    Attributes:
        program: The program.
        arguments: Its arguments.
        home: The data folder; None for that of whoever starts it.
    """

    program: str
    arguments: tuple[str, ...]
    home: Path | None = None

    @property
    def environ(self) -> dict[str, str]:
        """What is set in the server's environment."""
        return {} if self.home is None else {_HOME: str(self.home)}

    def kept(self, found: Mapping[str, Any]) -> ServerCommand:
        """Return it with the options that a user added to an entry of ours, such as `--allow`."""
        own = len(_OWN) if self.arguments[: len(_OWN)] == _OWN else 1
        added = tuple(str(one) for one in found.get("args", ())[own:])
        return ServerCommand(self.program, self.arguments[:own] + added, self.home)


def own_server(home: Path) -> ServerCommand:
    """Return how the server is started on this machine: by this Python, with this data folder.

    Neither the agent's folder nor PYTHONPATH may put modules in front of Python's own.
    """
    return ServerCommand(sys.executable, _OWN, home)


def shared_server() -> ServerCommand:
    """Return how the server is started where a team shares the settings: as each has it."""
    return ServerCommand("fairtrial", ("mcp",))


def is_own_server(entry: object, *, shared: bool) -> bool:
    """Return whether an entry is one of ours, whichever Python and options it names.

    Args:
        entry: What stands in the settings under `NAME`.
        shared: Whether a team shares them; elsewhere `fairtrial mcp` alone is a user's own entry.
    """
    if not isinstance(entry, Mapping):
        return False
    arguments = entry.get("args")
    if not isinstance(arguments, list):
        return False
    if tuple(arguments[: len(_OWN)]) == _OWN:
        return True
    return shared and entry.get("command") == "fairtrial" and arguments[:1] == ["mcp"]

"""What `init` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import ClassVar

from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json


class Action(StrEnum):
    """What is done with a file."""

    CREATE = "create"
    CHANGE = "change"
    RESTORE = "restore"
    """It gets back the bytes that it had."""
    DELETE = "delete"
    """`init` made it, and nothing else is in it."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """One file of an agent's settings.

    Attributes:
        agent: Whose.
        path: The file.
        action: What is done with it.
        diff: The change as a unified diff.
        backup: Where the file as it was before is kept; None when there was none.
        note: What else there is to know.
    """

    agent: str
    path: str
    action: Action
    diff: str = ""
    backup: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class InitReport:
    """What was done with the settings of agents.

    Attributes:
        changes: Each file that was looked at.
        undo: Whether hooks, or the server, were taken out.
        made: Whether the changes were made; not with --dry-run.
        asking: Whether the user is about to be asked.
        mcp: Whether it is the MCP server, in place of hooks.
    """

    schema: ClassVar[str] = "fairtrial.init/1"

    changes: Sequence[SettingsChange]
    undo: bool
    made: bool
    asking: bool = False
    mcp: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """Always 0: what cannot be done is an error."""
        return ExitCode.OK

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "changes": [asdict(change) for change in self.changes],
            "mcp": self.mcp,
            "undo": self.undo,
            "made": self.made,
        }

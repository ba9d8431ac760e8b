"""What `mcp` says when it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class McpReport(Informing):
    """What an MCP server did.

    Attributes:
        calls: How often a tool was called.
        refused: How many of the calls were refused: nobody agreed, or nobody could be asked.
    """

    schema: ClassVar[str] = "fairtrial.mcp/1"

    calls: int
    refused: int

    def json(self) -> dict[str, Json]:
        """Return the last line of `mcp --http --json`."""
        return {"schema": self.schema, "calls": self.calls, "refused": self.refused}

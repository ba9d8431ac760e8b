"""The lines of a journal: one for the session, then one for each thing that happened."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from fairtrial.model.json import Json


class Line(msgspec.Struct, omit_defaults=True):
    """One line; which fields it has depends on its `type`.

    Attributes:
        type: `session`, or what happened: `prompt`, `said`, `thought`, `call`, `result`, `usage`,
            `trouble`, `end`.
        at: When.
    """

    type: str = ""
    at: datetime | None = None
    # session
    journal: int | None = None
    id: str | None = None
    agent: str | None = None
    agent_version: str | None = None
    cwd: str | None = None
    branch: str | None = None
    commit: str | None = None
    # prompt, said, thought, trouble
    text: str | None = None
    source: str | None = None
    # call, result
    call: str | None = None
    tool: str | None = None
    input: Json = None
    output: Any = None
    status: str | None = None
    exit_code: int | None = None
    took_s: float | None = None
    # usage
    model: str | None = None
    tokens: dict[str, int] | None = None
    cost_usd: float | None = None
    # trouble, end
    http_status: int | None = None
    final: bool | None = None
    reason: str | None = None

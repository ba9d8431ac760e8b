"""Server-sent events as they are written."""

from __future__ import annotations

import json
from dataclasses import dataclass

from fairtrial.model.json import Json

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its data, and its name where the API gives it one."""

    data: Json
    name: str | None = None

    def written(self) -> bytes:
        """Return the event as it stands in the stream."""
        head = f"event: {self.name}\n" if self.name else ""
        return f"{head}data: {json.dumps(self.data, ensure_ascii=False)}\n\n".encode()

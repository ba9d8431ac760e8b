"""What the CLIs print: events, one JSON object a line, and now and then other lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def printed_events(stdout: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the events that were printed; what is none is passed over."""
    for line in stdout.split(b"\n"):
        if line.startswith(b"{"):
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                yield event

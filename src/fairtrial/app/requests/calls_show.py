"""Options of `calls show`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Show a recorded model call: the conversation, the answer, what it took.

    A call is named by its id, a unique prefix of 6 or more characters, or its place in a session:
    `SESSION#2`, `SESSION#-1` for the last one, `latest#-1` for the last one of the latest session.
    """

    call: str = option(positional=True)
    """Call id, prefix or place in a session"""
    body: Literal["request", "response", "events"] | None = option(None, metavar="PART")
    """Show one part as it was recorded: request, response, or the events of a stream one by one"""


EXAMPLES = (
    "fairtrial calls show latest#-1",
    "fairtrial calls show call_01JC3T6Z --body request",
    "fairtrial calls show latest#1 --body events --json",
)

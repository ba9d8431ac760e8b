"""Options of `sessions show`."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Show a session: what it took, and its transcript with the flags at their turns.

    A flag (⚑) stands after the last event that shows it, a decision (◆) where the agent made it:
    `fairtrial sessions decisions` tells of them.

    A session is named by its id, a unique prefix of 6 or more characters, the agent's own id, or
    `latest`; `latest#-1` is the one before the latest.
    """

    session: str = option(positional=True)
    """Session id, prefix, agent's own id, latest or latest#-N"""
    full: bool = option(default=False)
    """Show texts whole, and what the agent thought"""
    thread: str | None = option(None, metavar="THREAD")
    """Only this thread: main, or the id of a subagent"""


EXAMPLES = (
    "fairtrial sessions show latest",
    "fairtrial sessions show latest#-1 --full",
    "fairtrial sessions show ses_5rf4je --json",
)

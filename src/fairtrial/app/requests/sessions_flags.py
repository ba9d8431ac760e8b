"""Options of `sessions flags`."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """List the rules that flag sessions, and how many sessions each is on.

    With a session, list the flags that are on it, and the events that show them.
    """

    session: str | None = option(None, positional=True)
    """Session id, prefix, agent's own id, latest or latest#-N"""
    where: str | None = option(None, short="-w", metavar="FILTER")
    """Count only sessions that this filter fits; see `fairtrial sessions list`"""
    mute: tuple[str, ...] = option((), metavar="FLAG")
    """Do not flag sessions with this any more, and take it off all"""
    unmute: tuple[str, ...] = option((), metavar="FLAG")
    """Flag sessions with this again"""
    again: bool = option(default=False)
    """Let the rules look at all stored sessions again"""


EXAMPLES = (
    "fairtrial sessions flags",
    "fairtrial sessions flags latest",
    'fairtrial sessions flags --where "repo = shop and ended > 30d"',
    "fairtrial sessions flags --mute churn",
)

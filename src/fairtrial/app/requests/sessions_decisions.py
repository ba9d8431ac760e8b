"""Options of `sessions decisions`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.app.decision_options import DecisionSelection
from fairtrial.schema.fields import group, option


@dataclass(frozen=True, slots=True)
class Request:
    """List the steps at which agents chose badly, or well where they could have chosen badly.

    Each has what the agent knew and what it did next. What is the same in two sessions, such as a
    fork and what it came from, is there once. The newest come first, those of the session that
    ended last before all others.
    """

    sessions: tuple[str, ...] = option((), positional=True, metavar="SESSION")
    """Only these, whenever they ended: ids, prefixes, agents' own ids, latest or latest#-N"""
    selection: DecisionSelection = group(DecisionSelection)
    where: str | None = option(None, short="-w", metavar="FILTER")
    """Only sessions that this filter fits, too; see `fairtrial sessions list`"""
    good: bool = option(default=False)
    """List where agents chose well instead"""
    all: bool = option(default=False)
    """List where agents chose badly, and of each behavior as many where they chose well"""
    context: Annotated[int, Meta(ge=0, le=10000)] = option(0, metavar="N")
    """Show the last N events that the agent knew, and what it did then; --json has all of them"""


EXAMPLES = (
    "fairtrial sessions decisions",
    "fairtrial sessions decisions latest --context 6",
    "fairtrial sessions decisions --behavior unchanged-retry --agent codex --since 30d --all",
    "fairtrial sessions decisions --anchor shouting.py --where 'repo = shop' --json",
)

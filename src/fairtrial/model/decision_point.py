"""A step of a session at which the agent chose badly, or well where it could have chosen badly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from fairtrial.model.json import Json
from fairtrial.model.session import MAIN

DECISION: Final = "decision"
"""The key of a case's metadata that holds the decision point that the case was made of."""


@dataclass(frozen=True, slots=True)
class DecisionPoint:
    """A moment of a session, and what the agent did next.

    Attributes:
        behavior: The behaviour it is an example of: `unchanged-retry`.
        after: Number of the last event that the agent knew when it chose; the context is what its
            thread holds up to there.
        bad: Whether it chose badly; else it chose well where it could have chosen badly.
        summary: One line that says what it did.
        evidence: Numbers of the events that show what it did, in order.
        thread: The thread it happened in.
        detail: Facts of the behaviour's own, as JSON.
    """

    behavior: str
    after: int
    bad: bool = field(kw_only=True)
    summary: str
    evidence: tuple[int, ...] = ()
    thread: str = MAIN
    detail: Mapping[str, Json] = field(default_factory=dict)

"""What went wrong in a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fairtrial.model.json import Json


class FlagLevel(StrEnum):
    """How sure a flag is that something went wrong."""

    WARN = "warn"
    INFO = "info"
    """Worth knowing; it may well be as it should be."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A failure that a rule found in a session.

    Attributes:
        name: The rule's name: `looping`.
        level: How sure it is.
        summary: One line that says what happened here.
        evidence: Numbers of the events that show it, in order.
        detail: Facts of the rule's own, as JSON.
    """

    name: str
    level: FlagLevel
    summary: str
    evidence: tuple[int, ...] = ()
    detail: Mapping[str, Json] = field(default_factory=dict)

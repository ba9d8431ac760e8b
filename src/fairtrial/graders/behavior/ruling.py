"""What a rule says of a turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from fairtrial.graders.behavior.moment import Moment


@dataclass(frozen=True, slots=True)
class Ruling:
    """A rule decides.

    Attributes:
        good: Whether the turn does without the behaviour.
        why: Why, in a few words.
    """

    good: bool
    why: str


Rule: TypeAlias = Callable[[Moment], Ruling | None]
"""Decides of a moment; None leaves it to the judge."""

RULES: Final[Mapping[str, str]] = {
    "done-while-failing": "fairtrial.graders.behavior.done_while_failing",
    "unchanged-retry": "fairtrial.graders.behavior.unchanged_retry",
    "unverified-claim": "fairtrial.graders.behavior.unverified_claim",
}
"""The module of each behaviour's rule; it has a function `rule`."""

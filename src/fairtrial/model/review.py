"""A row that waits for a person's look."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Opinion(StrEnum):
    """What a person says of a row."""

    PASSED = "passed"
    FAILED = "failed"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A row in the queue of reviews.

    Attributes:
        id: `rev_` and a ULID.
        experiment: The experiment's id.
        name: Its name.
        case_id: The case.
        condition: Its condition.
        arm: The arm.
        reason: What was said of the row when it was sent; None when nothing was.
        sent_at: When it was sent (UTC).
        opinion: What a person said; None while it waits.
        note: The person's own words; None without any.
        settled_at: When that was said; None while it waits.
    """

    id: str
    experiment: str
    name: str
    case_id: str
    condition: str
    arm: str
    reason: str | None
    sent_at: datetime
    opinion: Opinion | None = None
    note: str | None = None
    settled_at: datetime | None = None

    @property
    def row(self) -> tuple[str, str, str]:
        """The row: case, condition and arm."""
        return self.case_id, self.condition, self.arm

"""The queue of rows that wait for a person's look."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from fairtrial.model.review import Opinion, ReviewItem


class ReviewStore(Protocol):
    """Keeps the queue. Nothing is ever taken out of it; what was looked at is settled."""

    def send(self, item: ReviewItem) -> ReviewItem:
        """Put a row in the queue; return the item of that row that waits already, if one does."""
        ...

    def items(
        self, limit: int, before: str | None = None, *, settled: bool = False
    ) -> Sequence[ReviewItem]:
        """Return items that wait, or those that are settled, the newest first.

        `before` is the id of the last one of the page before.
        """
        ...

    def settled_of(self, experiment: str) -> Sequence[ReviewItem]:
        """Return all items of an experiment that are settled, the last word last.

        `experiment` is its id.
        """
        ...

    def n_waiting(self) -> int:
        """Return how many wait."""
        ...

    def settle(self, ref: str, opinion: Opinion, note: str | None, now: datetime) -> ReviewItem:
        """Record what a person said of a row; a later word replaces an earlier one.

        Raises:
            NotFoundError: there is no such item.
        """
        ...

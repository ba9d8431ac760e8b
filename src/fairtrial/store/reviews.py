"""The queue of reviews in the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, select, update

from fairtrial.model.errors import NotFoundError
from fairtrial.model.review import Opinion, ReviewItem
from fairtrial.store.codec import from_micros, to_micros, to_text
from fairtrial.store.database import Database
from fairtrial.store.review_tables import review

_WAITS = review.c.settled_at.is_(None)


class SqlReviewStore:
    """The `ReviewStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def send(self, item: ReviewItem) -> ReviewItem:
        """Put a row in the queue; see `ReviewStore`."""
        same = select(review).where(
            _WAITS,
            review.c.experiment == item.experiment,
            review.c.case_id == item.case_id,
            review.c.condition == item.condition,
            review.c.arm == item.arm,
        )
        row = {
            "ref": item.id,
            "experiment": item.experiment,
            "name": item.name,
            "case_id": item.case_id,
            "condition": item.condition,
            "arm": item.arm,
            "reason": to_text(item.reason),
            "sent_at": to_micros(item.sent_at),
        }
        with self._database.write() as connection:
            waiting = connection.execute(same).first()
            if waiting is not None:
                return _item(waiting)
            connection.execute(insert(review), row)
        return item

    def items(
        self, limit: int, before: str | None = None, *, settled: bool = False
    ) -> Sequence[ReviewItem]:
        """Return a page of the queue; see `ReviewStore`."""
        statement = select(review).where(~_WAITS if settled else _WAITS)
        if before is not None:
            statement = statement.where(review.c.ref < before)
        statement = statement.order_by(review.c.ref.desc()).limit(limit)
        with self._database.read() as connection:
            return [_item(row) for row in connection.execute(statement)]

    def settled_of(self, experiment: str) -> Sequence[ReviewItem]:
        """Return all items of an experiment that are settled; see `ReviewStore`."""
        statement = (
            select(review)
            .where(review.c.experiment == experiment, ~_WAITS)
            .order_by(review.c.settled_at, review.c.id)
        )
        with self._database.read() as connection:
            return [_item(row) for row in connection.execute(statement)]

    def n_waiting(self) -> int:
        """Return how many wait."""
        with self._database.read() as connection:
            counted = select(func.count()).select_from(review).where(_WAITS)
            return connection.execute(counted).scalar_one()

    def settle(self, ref: str, opinion: Opinion, note: str | None, now: datetime) -> ReviewItem:
        """Record what a person said of a row; see `ReviewStore`.

        Raises:
            NotFoundError: there is no such item.
        """
        said = {"opinion": opinion.value, "note": to_text(note), "settled_at": to_micros(now)}
        with self._database.write() as connection:
            connection.execute(update(review).where(review.c.ref == ref).values(**said))
            row = connection.execute(select(review).where(review.c.ref == ref)).first()
        if row is None:
            raise NotFoundError(f"nothing to review is called {ref}", fix="see /review")
        return _item(row)


def _item(row: Any) -> ReviewItem:
    return ReviewItem(
        id=row.ref,
        experiment=row.experiment,
        name=row.name,
        case_id=row.case_id,
        condition=row.condition,
        arm=row.arm,
        reason=row.reason,
        sent_at=from_micros(row.sent_at),
        opinion=None if row.opinion is None else Opinion(row.opinion),
        note=row.note,
        settled_at=None if row.settled_at is None else from_micros(row.settled_at),
    )

"""Recorded model calls in the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, TextClause, delete, func, select, text
from sqlalchemy.exc import IntegrityError

from fairtrial.model.errors import NotFoundError, StoreError
from fairtrial.model.recorded_call import CallBody, CallOwner, CallQuery, RecordedCall
from fairtrial.model.task import Tokens
from fairtrial.model.trial import TrialKey
from fairtrial.query.expression import Expression
from fairtrial.store.blobs import Blobs
from fairtrial.store.codec import from_json, from_micros, to_json, to_micros, to_text
from fairtrial.store.database import Database
from fairtrial.store.filtering import condition
from fairtrial.store.finding import the_one, with_id_prefix, with_prefix
from fairtrial.store.pieces import Pieces, cut, digests_of
from fairtrial.store.tables import TOKEN_PARTS, call_piece, model_call, model_call_body

_ID_PREFIX = "call_"
_LATEST = "latest"
_MOST_CALLS: Final = 2**62
"""More than any session has, and what the database can count to."""
_REQUEST, _RESPONSE = 0, 1
_REFS_AT_ONCE = 500
_FIRST_ERROR = 400
_LISTING = "`fairtrial calls list` shows the newest"

# Written as the partial index is, so that it is used.
_FAILED = {True: text("failed"), False: text("NOT failed")}


class SqlCallStore:
    """The `CallStore` of a database."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._pieces = Pieces(blobs)

    def add(self, calls: Sequence[tuple[RecordedCall, CallBody]]) -> None:
        """Store calls in one transaction; see `CallStore`.

        Raises:
            StoreError: a call of this id is on record, or the store cannot be written.
        """
        parts = [_parts(body) for _, body in calls]
        pieces = {digest: content for _, _, _, digest, content in _numbered(parts)}
        with self._database.read() as connection:
            packed = self._pieces.prepared(connection, pieces)
        with self._database.write() as connection:
            numbers = _insert(connection, [call for call, _ in calls])
            ids = self._pieces.add(connection, pieces, packed)
            rows = [
                {"call_id": numbers[at], "part": part, "position": place, "piece_id": ids[digest]}
                for at, part, place, digest, _ in _numbered(parts)
            ]
            if rows:
                connection.execute(call_piece.insert(), rows)
            bodies = [
                {"call_id": number, "headers": _headers(body)}
                for number, (_, body) in zip(numbers, calls, strict=True)
            ]
            if bodies:
                connection.execute(model_call_body.insert(), bodies)

    def find(self, ref: str) -> RecordedCall:
        """Return the call that an id, a unique prefix or `SESSION#N` names.

        Raises:
            NotFoundError: there is none, or the prefix fits several.
        """
        with self._database.read() as connection:
            exact = _first(connection, model_call.c.ref == ref)
            if exact is not None:
                return exact
            session, hash_sign, number = ref.rpartition("#")
            if hash_sign:
                return _numbered_call(connection, _session(connection, session), number)
            fitting = with_id_prefix(connection, model_call.c.ref, _ID_PREFIX, ref)
            found = (
                _first(connection, model_call.c.ref == the_one(ref, fitting, "calls"))
                if fitting
                else None
            )
        if found is None:
            raise NotFoundError(f"there is no call {ref}", fix=_LISTING)
        return found

    def body(self, call_id: str) -> CallBody:
        """Return a call's payloads.

        Raises:
            NotFoundError: there is no such call.
            StoreError: a payload is missing or damaged.
        """
        statement = select(model_call_body).join(model_call).where(model_call.c.ref == call_id)
        with self._database.read() as connection:
            found = connection.execute(statement).one_or_none()
            if found is None:
                raise NotFoundError(f"there is no call {call_id}", fix=_LISTING)
            request = self._pieces.body(connection, found.call_id, _REQUEST)
            response = self._pieces.body(connection, found.call_id, _RESPONSE)
        sent, received = from_json(found.headers)
        return CallBody(_pairs(sent), request, _pairs(received), response)

    def newest(self, query: CallQuery, where: Expression | None = None) -> Sequence[RecordedCall]:
        """Return calls, newest first; with `where`, only those that this filter fits."""
        statement = (
            select(model_call)
            .where(*_wanted(query))
            .order_by(model_call.c.ref.desc())
            .limit(query.limit)
        )
        if where is not None:
            from fairtrial.store.call_filter import CALLS  # noqa: PLC0415  # rarely asked

            statement = statement.where(condition(where, CALLS))
        with self._database.read() as connection:
            return [_call(found) for found in connection.execute(statement)]

    def of_trial(self, experiment_id: str, key: TrialKey) -> Sequence[RecordedCall]:
        """Return the calls of one trial in their order."""
        statement = (
            select(model_call)
            .where(model_call.c.experiment == experiment_id, *_of_key(key))
            .order_by(model_call.c.number, model_call.c.ref)
        )
        with self._database.read() as connection:
            return [_call(found) for found in connection.execute(statement)]

    def next_number(self, session: str) -> int:
        """Return the number of a session's next call, from 1."""
        statement = select(func.max(model_call.c.number)).where(model_call.c.session == session)
        with self._database.read() as connection:
            return int(connection.execute(statement).scalar_one() or 0) + 1

    def prune(
        self, now: datetime, older_than_s: float, *, recordings: bool = False, others: bool = True
    ) -> tuple[int, int]:
        """Forget calls that began so long ago; see `CallStore`.

        Raises:
            StoreError: the store cannot be written, or a file cannot be removed.
        """
        limit = to_micros(now - timedelta(seconds=older_than_s))
        old = [model_call.c.started_at < limit]
        if not recordings:
            old.append(model_call.c.experiment.is_(None))
        if not others:
            old.append(model_call.c.experiment.is_not(None))
        chosen = select(model_call.c.id).where(*old)
        with self._database.write() as connection:
            connection.execute(delete(call_piece).where(call_piece.c.call_id.in_(chosen)))
            connection.execute(delete(model_call_body).where(model_call_body.c.call_id.in_(chosen)))
            forgotten = connection.execute(delete(model_call).where(*old)).rowcount
            freed = self._pieces.drop_unused(connection)
        # A file goes only when the record that named it is gone for good.
        with self._database.write() as connection:
            return forgotten, freed + self._pieces.sweep(connection)


def _parts(body: CallBody) -> tuple[list[tuple[bytes, bytes]], list[tuple[bytes, bytes]]]:
    response = [body.response] if body.response else []
    return digests_of(cut(body.request)), digests_of(response)


def _numbered(
    parts: Sequence[tuple[list[tuple[bytes, bytes]], list[tuple[bytes, bytes]]]],
) -> Iterator[tuple[int, int, int, bytes, bytes]]:
    """Yield each piece with its call's index, its part and its place in it."""
    for at, both in enumerate(parts):
        for part, pieces in enumerate(both):
            for place, (digest, content) in enumerate(pieces):
                yield at, part, place, digest, content


def _headers(body: CallBody) -> bytes:
    return to_json([body.request_headers, body.response_headers])


def _pairs(headers: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in headers)


def _insert(connection: Connection, calls: Sequence[RecordedCall]) -> list[int]:
    """Return the numbers that calls got in their table, in order."""
    if not calls:
        return []
    refs = [call.id for call in calls]
    try:
        connection.execute(model_call.insert(), [_columns(call) for call in calls])
    except IntegrityError as error:
        raise StoreError(f"a call of these is on record already: {', '.join(refs)}") from error
    known: dict[str, int] = {}
    for at in range(0, len(refs), _REFS_AT_ONCE):
        page = refs[at : at + _REFS_AT_ONCE]
        found = connection.execute(
            select(model_call.c.ref, model_call.c.id).where(model_call.c.ref.in_(page))
        )
        known.update((row.ref, row.id) for row in found)
    return [known[ref] for ref in refs]


def _columns(call: RecordedCall) -> dict[str, Any]:
    failed = call.problem is not None or call.status is None or call.status >= _FIRST_ERROR
    owner = call.owner
    key = None if owner is None else owner.key
    return {
        "ref": call.id,
        "session": to_text(call.session),
        "number": call.number,
        "api": call.api,
        "method": to_text(call.method),
        "path": to_text(call.path),
        "upstream": to_text(call.upstream),
        "model": to_text(call.model),
        "status": call.status,
        "problem": to_text(call.problem),
        "failed": failed,
        "streamed": call.streamed,
        "started_at": to_micros(call.started_at),
        "first_byte_s": call.first_byte_s,
        "duration_s": call.duration_s,
        "has_tokens": call.tokens is not None,
        **{
            f"tokens_{part}": None if call.tokens is None else getattr(call.tokens, part)
            for part in TOKEN_PARTS
        },
        "cost_usd": call.cost_usd,
        "canonical": call.canonical,
        "served_from": call.served_from,
        "agent": to_text(call.agent),
        "experiment": None if owner is None else owner.experiment_id,
        "case_id": None if key is None else key.case_id,
        "condition": None if key is None else key.condition,
        "arm": None if key is None else key.arm,
        "trial": None if key is None else key.trial,
    }


def _call(found: Any) -> RecordedCall:
    tokens = {part: getattr(found, f"tokens_{part}") for part in TOKEN_PARTS}
    key = TrialKey(found.case_id, found.condition, found.arm, found.trial)
    return RecordedCall(
        id=found.ref,
        session=found.session,
        number=found.number,
        api=found.api,
        method=found.method,
        path=found.path,
        upstream=found.upstream,
        model=found.model,
        status=found.status,
        problem=found.problem,
        streamed=found.streamed,
        started_at=from_micros(found.started_at),
        first_byte_s=found.first_byte_s,
        duration_s=found.duration_s,
        tokens=Tokens(**tokens) if found.has_tokens else None,
        cost_usd=found.cost_usd,
        canonical=found.canonical,
        served_from=found.served_from,
        owner=None if found.experiment is None else CallOwner(found.experiment, key),
        agent=found.agent,
    )


def _first(connection: Connection, *where: ColumnElement[bool]) -> RecordedCall | None:
    found = connection.execute(select(model_call).where(*where).limit(1)).one_or_none()
    return None if found is None else _call(found)


def _session(connection: Connection, ref: str) -> str:
    """Return the session that an id, a unique prefix or `latest` means.

    Raises:
        NotFoundError: there is none, or the prefix fits several.
    """
    column = model_call.c.session
    if ref == _LATEST:
        newest = select(column).where(column.is_not(None)).order_by(model_call.c.ref.desc())
    else:
        newest = select(column).where(column == ref)
    exact = connection.execute(newest.limit(1)).scalar_one_or_none()
    if exact is not None:
        return str(exact)
    fitting = with_prefix(connection, column, ref) if ref and ref != _LATEST else []
    if fitting:
        return the_one(ref, fitting, "sessions")
    what = "no call belongs to a session" if ref == _LATEST else f"no call is of a session {ref}"
    raise NotFoundError(what, fix=_LISTING)


def _numbered_call(connection: Connection, session: str, number: str) -> RecordedCall:
    """Return the call of a session with a number, from 1, or back from -1.

    Raises:
        NotFoundError: there is none.
    """
    statement = select(model_call).where(model_call.c.session == session)
    try:
        wanted = int(number)
    except ValueError:
        raise NotFoundError(
            f"{number!r} is no number of a call", fix="write SESSION#1, or SESSION#-1 for the last"
        ) from None
    wanted = max(-_MOST_CALLS, min(wanted, _MOST_CALLS))
    if wanted < 0:
        backwards = statement.order_by(model_call.c.number.desc(), model_call.c.ref.desc())
        statement = backwards.offset(-wanted - 1)
    else:
        statement = statement.where(model_call.c.number == wanted).order_by(model_call.c.ref)
    found = connection.execute(statement.limit(1)).one_or_none()
    if found is None:
        last = connection.execute(
            select(func.max(model_call.c.number)).where(model_call.c.session == session)
        ).scalar_one()
        raise NotFoundError(
            f"session {session} has no call {number}", fix=f"its calls are 1 to {last}"
        )
    return _call(found)


def _wanted(query: CallQuery) -> Iterator[ColumnElement[bool] | TextClause]:
    if query.session is not None:
        yield model_call.c.session == query.session
    if query.experiment_id is not None:
        yield model_call.c.experiment == query.experiment_id
    if query.key is not None:
        yield from _of_key(query.key)
    if query.model is not None:
        yield model_call.c.model == query.model
    if query.failed is not None:
        yield _FAILED[query.failed]
    if query.before is not None:
        yield model_call.c.ref < query.before


def _of_key(key: TrialKey) -> Iterator[ColumnElement[bool]]:
    yield model_call.c.case_id == key.case_id
    yield model_call.c.condition == key.condition
    yield model_call.c.arm == key.arm
    yield model_call.c.trial == key.trial

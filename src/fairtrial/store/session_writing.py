"""Writing what files of sessions brought, many files in one transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, case, delete, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from fairtrial.model.errors import NotFoundError
from fairtrial.model.flag import Flag
from fairtrial.ports.sessions import FileReading
from fairtrial.store.codec import to_json, to_micros, to_text
from fairtrial.store.session_folding import (
    pack_facts,
    row_of,
    session_ref,
    unpack_facts,
    usage_key,
)
from fairtrial.store.session_tables import (
    session,
    session_body,
    session_chunk,
    session_file,
    session_flag,
    session_usage,
)
from fairtrial.store.span_removal import allow_removed_spans, forget_spans
from fairtrial.store.tables import TOKEN_PARTS

_PROMPTS = 64 * 1024
_AT_ONCE = 500
_REMOVED = -1
_EMPTY = {
    "models": "[]",
    "sorted_at": 0,
    "state": "open",
    "turns": 0,
    "calls": 0,
    "failures": 0,
    "denials": 0,
    "changed_files": 0,
    "compactions": 0,
    "parser_version": 0,
}


def save_readings(connection: Connection, readings: Sequence[FileReading], now: int) -> list[str]:
    """Store readings under the write lock; return the ids of the sessions that they belong to."""
    readings = _wanted(connection, readings)
    if not readings:
        return []
    refs = [session_ref(found.facts.agent, found.facts.native_id) for found in readings]
    sessions = _sessions(connection, readings, refs)
    before = _files(connection, [found.mark.path for found in readings])
    _put_files(connection, readings, [sessions[ref] for ref in refs], before)
    files = _files(connection, [found.mark.path for found in readings])
    ids = [files[found.mark.path]["id"] for found in readings]
    _forget(connection, [id_ for id_, found in zip(ids, readings, strict=True) if found.anew])
    _put_events(connection, readings, ids)
    moved = {row["session_id"] for row in before.values()} - {None}
    _fold(connection, {*sessions.values(), *moved}, now)
    return list(dict.fromkeys(refs))


def _wanted(connection: Connection, readings: Sequence[FileReading]) -> list[FileReading]:
    """Return the readings of sessions that were not removed; the files of others are noted.

    So are those that are of no session, e.g. because nothing in them is understood.
    """
    nameless = [found for found in readings if not found.facts.native_id]
    if nameless:
        nothing = dict.fromkeys(("facts", "state", "prompts"))
        _upsert_files(connection, [_file_row(found, None) | nothing for found in nameless])
        readings = [found for found in readings if found.facts.native_id]
    chosen = select(session_file.c.tail).where(session_file.c.offset == _REMOVED).distinct()
    removed = set(connection.execute(chosen).scalars())
    if not removed:
        return list(readings)
    wanted: list[tuple[FileReading, str]] = []
    others: list[tuple[FileReading, str]] = []
    for found in readings:
        ref = session_ref(found.facts.agent, found.facts.native_id)
        (others if ref.encode() in removed else wanted).append((found, ref))
    if others:
        rows = [_file_row(found, None) | _tombstone(ref) for found, ref in others]
        _upsert_files(connection, rows)
    return [found for found, _ in wanted]


def _tombstone(ref: str) -> dict[str, Any]:
    """Return the columns of a file whose session was removed; its tail tells which one it was."""
    nothing = dict.fromkeys(("session_id", "facts", "state", "prompts", "repo"))
    return {**nothing, "offset": _REMOVED, "tail": ref.encode()}


def _sessions(
    connection: Connection, readings: Sequence[FileReading], refs: Sequence[str]
) -> dict[str, int]:
    rows = [
        {"ref": ref, "agent": found.facts.agent, "native_id": found.facts.native_id, **_EMPTY}
        for ref, found in zip(refs, readings, strict=True)
    ]
    connection.execute(upsert(session).on_conflict_do_nothing(), rows)
    chosen = select(session.c.ref, session.c.id)
    return {
        row.ref: row.id
        for page in _pages(list(set(refs)))
        for row in connection.execute(chosen.where(session.c.ref.in_(page)))
    }


def _files(connection: Connection, paths: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    chosen = select(
        session_file.c.id, session_file.c.path, session_file.c.session_id, session_file.c.prompts
    )
    found: dict[str, Mapping[str, Any]] = {}
    for page in _pages(paths):
        rows = connection.execute(chosen.where(session_file.c.path.in_(page))).mappings()
        found.update({row["path"]: dict(row) for row in rows})
    return found


def _put_files(
    connection: Connection,
    readings: Sequence[FileReading],
    sessions: Sequence[int],
    before: Mapping[str, Mapping[str, Any]],
) -> None:
    rows = []
    for found, session_id in zip(readings, sessions, strict=True):
        known = before.get(found.mark.path)
        earlier = "" if known is None or found.anew else known["prompts"] or ""
        prompts = to_text(f"{earlier}\n{found.prompts}".strip()[:_PROMPTS])
        rows.append({**_file_row(found, session_id), "prompts": prompts})
    _upsert_files(connection, rows)


def _file_row(found: FileReading, session_id: int | None) -> dict[str, Any]:
    mark = found.mark
    return {
        "path": mark.path,
        "session_id": session_id,
        "inode": mark.inode,
        "size": mark.size,
        "changed_ns": mark.changed_ns,
        "offset": mark.offset,
        "tail": mark.tail,
        "version": mark.version,
        "repo": to_text(found.repo),
        "facts": pack_facts(found.facts),
        "state": found.state,
    }


def _upsert_files(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    statement = upsert(session_file)
    set_ = {name: statement.excluded[name] for name in rows[0] if name != "path"}
    connection.execute(
        statement.on_conflict_do_update(index_elements=[session_file.c.path], set_=set_), rows
    )


def _forget(connection: Connection, files: Sequence[int]) -> None:
    """Forget the events and the model calls of files."""
    for page in _pages(files):
        connection.execute(delete(session_chunk).where(session_chunk.c.file_id.in_(page)))
        connection.execute(delete(session_usage).where(session_usage.c.file_id.in_(page)))


def _put_events(
    connection: Connection, readings: Sequence[FileReading], files: Sequence[int]
) -> None:
    chunks = [
        {"file_id": file_id, "events": chunk.count, "size": chunk.size, "data": chunk.data}
        for found, file_id in zip(readings, files, strict=True)
        for chunk in found.chunks
    ]
    if chunks:
        connection.execute(insert(session_chunk), chunks)
    usages = [
        {
            "key": usage_key(priced.usage.message_id),
            "file_id": file_id,
            "at": None if priced.usage.at is None else to_micros(priced.usage.at),
            "model": to_text(priced.usage.model),
            "cost_usd": priced.cost_usd,
            **{part: getattr(priced.usage.tokens, part) for part in TOKEN_PARTS},
        }
        for found, file_id in zip(readings, files, strict=True)
        for priced in found.usages
    ]
    if not usages:
        return
    statement = upsert(session_usage)
    # The file that told of a call first keeps it: a fork repeats the calls of its parent.
    changed = ("model", "cost_usd", *TOKEN_PARTS)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[session_usage.c.key],
            set_={name: statement.excluded[name] for name in changed},
            where=session_usage.c.file_id == statement.excluded.file_id,
        ),
        usages,
    )


def _fold(connection: Connection, sessions: Iterable[int], now: int) -> None:
    """Write the rows of sessions anew; those that have no file any more are forgotten."""
    rows, bodies, gone = [], [], []
    for page in _pages(sorted(sessions)):
        files = _facts(connection, page)
        _forget_copies(connection, files)
        sums = _sums(connection, page)
        for session_id in page:
            if session_id not in files:
                gone.append(session_id)
                continue
            row, body = row_of(files[session_id], sums.get(session_id, ()), now)
            rows.append({"key": session_id, **row})
            bodies.append({"session_id": session_id, **body})
    if rows:
        values: dict[str, Any] = {name: bindparam(name) for name in rows[0] if name != "key"}
        connection.execute(
            update(session).where(session.c.id == bindparam("key")).values(values), rows
        )
        statement = upsert(session_body)
        set_ = {name: statement.excluded[name] for name in bodies[0] if name != "session_id"}
        connection.execute(
            statement.on_conflict_do_update(index_elements=[session_body.c.session_id], set_=set_),
            bodies,
        )
    drop_sessions(connection, gone)


def _forget_copies(connection: Connection, files: Mapping[int, list[Any]]) -> None:
    """Keep one file of each thread, the longest: agents move, copy and pack what they wrote."""
    copies: list[int] = []
    heirs: list[dict[str, int]] = []
    for found in files.values():
        longest: dict[str, tuple[Any, Any]] = {}
        for facts, row in sorted(found, key=_worth):
            longest[facts.thread] = (facts, row)
        kept = {row["id"] for _, row in longest.values()}
        for facts, row in found:
            if row["id"] not in kept:
                copies.append(row["id"])
                if not facts.derived:
                    heir = longest[facts.thread][1]["id"]
                    heirs.append({"copy": row["id"], "heir": heir})
        found[:] = [one for one in found if one[1]["id"] in kept]
    if heirs:  # the copy told of these calls first, so they are not with the one that is kept
        connection.execute(
            update(session_usage)
            .where(session_usage.c.file_id == bindparam("copy"))
            .values(file_id=bindparam("heir")),
            heirs,
        )
    _forget(connection, copies)
    for page in _pages(copies):
        connection.execute(
            update(session_file)
            .where(session_file.c.id.in_(page))
            .values(session_id=None, state=None, prompts=None)
        )


def _worth(one: tuple[Any, Any]) -> tuple[bool, int, int]:
    """Return what a file is sorted by among the copies of one thread; the last one counts."""
    facts, row = one
    return not facts.derived, row["offset"], row["id"]


def _facts(connection: Connection, sessions: Sequence[int]) -> dict[int, list[Any]]:
    chosen = select(
        session_file.c.id,
        session_file.c.session_id,
        session_file.c.repo,
        session_file.c.version,
        session_file.c.offset,
        session_file.c.prompts,
        session_file.c.facts,
    ).where(session_file.c.session_id.in_(sessions))
    found: dict[int, list[Any]] = defaultdict(list)
    for row in connection.execute(chosen).mappings():
        found[row["session_id"]].append((unpack_facts(row["facts"]), row))
    return found


def _sums(connection: Connection, sessions: Sequence[int]) -> dict[int, list[Any]]:
    usage = session_usage.c
    chosen = (
        select(
            session_file.c.session_id,
            usage.model,
            func.count().label("calls"),
            func.sum(case((usage.cost_usd.is_not(None), 1), else_=0)).label("priced"),
            func.sum(usage.cost_usd).label("cost_usd"),
            *(func.sum(usage[part]).label(part) for part in TOKEN_PARTS),
        )
        .join(session_file, session_file.c.id == usage.file_id)
        .where(session_file.c.session_id.in_(sessions))
        .group_by(session_file.c.session_id, usage.model)
        .order_by(func.min(usage.at))
    )
    found: dict[int, list[Any]] = defaultdict(list)
    for row in connection.execute(chosen).mappings():
        found[row["session_id"]].append(row)
    return found


def drop_sessions(connection: Connection, sessions: Sequence[int]) -> None:
    """Forget sessions that have no files."""
    for page in _pages(sessions):
        connection.execute(delete(session_flag).where(session_flag.c.session_id.in_(page)))
        connection.execute(delete(session_body).where(session_body.c.session_id.in_(page)))
        connection.execute(delete(session).where(session.c.id.in_(page)))


def remove_sessions(connection: Connection, refs: Sequence[str]) -> int:
    """Forget sessions with all that is kept of them; return the bytes of their events."""
    freed = 0
    for page in _pages(refs):
        chosen = select(session.c.id, session.c.ref).where(session.c.ref.in_(page))
        found = connection.execute(chosen).all()
        for id_, ref in found:
            freed += _remove_files(connection, id_, ref)
        drop_sessions(connection, [id_ for id_, _ in found])
    return freed


def _remove_files(connection: Connection, session_id: int, ref: str) -> int:
    own = session_file.c.session_id == session_id
    files = list(connection.execute(select(session_file.c.id).where(own)).scalars())
    size = select(func.sum(func.length(session_chunk.c.data))).join(
        session_file, session_file.c.id == session_chunk.c.file_id
    )
    freed = int(connection.execute(size.where(own)).scalar_one() or 0)
    # Also where a transcript tells of the session, and its spans count less.
    native = select(session.c.native_id).where(session.c.id == session_id)
    freed += forget_spans(connection, connection.execute(native).scalars())
    _forget(connection, files)
    connection.execute(update(session_file).where(own).values(_tombstone(ref)))
    return freed


def allow_removed(connection: Connection) -> None:
    """Forget which sessions were removed, so that their files are read again."""
    connection.execute(delete(session_file).where(session_file.c.offset == _REMOVED))
    allow_removed_spans(connection)


def put_flags(connection: Connection, flags: Mapping[str, Sequence[Flag]]) -> None:
    """Put flags on sessions in place of those before."""
    refs = list(flags)
    ids: dict[str, int] = {}
    for page in _pages(refs):
        chosen = select(session.c.ref, session.c.id).where(session.c.ref.in_(page))
        ids |= {row.ref: row.id for row in connection.execute(chosen)}
    missing = [ref for ref in refs if ref not in ids]
    if missing:
        raise NotFoundError(f"there is no session {missing[0]}")
    for page in _pages(list(ids.values())):
        connection.execute(delete(session_flag).where(session_flag.c.session_id.in_(page)))
    rows = [
        {
            "session_id": ids[ref],
            "position": position,
            "name": flag.name,
            "level": flag.level.value,
            "summary": to_text(flag.summary),
            "evidence": to_json(list(flag.evidence)).decode(),
            "detail": to_json(dict(flag.detail)).decode(),
        }
        for ref, found in flags.items()
        for position, flag in enumerate(found)
    ]
    if rows:
        connection.execute(insert(session_flag), rows)


def _pages(values: Sequence[Any]) -> list[Sequence[Any]]:
    return [values[at : at + _AT_ONCE] for at in range(0, len(values), _AT_ONCE)]

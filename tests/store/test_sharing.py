"""What calls share is kept once, and what nobody needs any more is gone from the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

from fairtrial.model.recorded_call import CallBody, KeptAnswer
from fairtrial.store.blobs import Blobs
from fairtrial.store.opening import Store, open_store
from fairtrial.store.pieces import SMALLEST_PIECE, cut
from fairtrial.testing.store.calls import a_call, a_conversation
from fairtrial.testing.store.facts import NOON

_DAY = 86_400.0
_NOISE = "".join(f"{n * n * n:x}" for n in range(40_000)).encode()


def _files(home: Path) -> set[str]:
    return {path.parent.parent.name for path in home.glob("*/*/*.zst")}


def _count(home: Path, table: str) -> int:
    with closing(sqlite3.connect(home / "fairtrial.db")) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


def test_pieces_joined_are_the_body() -> None:
    for body in (b"", b"x", b"}, {" * 9_000, a_conversation(20, 9), _NOISE):
        assert b"".join(cut(body)) == body
        assert all(len(piece) >= SMALLEST_PIECE for piece in list(cut(body))[:-1])


def test_a_conversation_takes_little_more_than_its_last_request(tmp_path: Path) -> None:
    turns = [a_conversation(40, turn) for turn in range(10)]
    with open_store(tmp_path) as store:
        for number, request in enumerate(turns, start=1):
            store.calls.add([(a_call(number), CallBody(request=request))])
    with closing(sqlite3.connect(tmp_path / "fairtrial.db")) as connection:
        kept = connection.execute("SELECT sum(length(inline)) FROM piece").fetchone()[0]
    assert sum(map(len, turns)) > 10 * len(turns[0])
    assert kept < len(turns[-1])


def test_calls_that_are_pruned_leave_nothing_behind(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        body = CallBody(request=a_conversation(9, 3), response=_NOISE)
        store.calls.add([(a_call(1), body), (a_call(2), body)])
        assert _files(tmp_path) == {"call-blobs"}
        forgotten, freed = store.calls.prune(NOON + timedelta(days=9), _DAY)
    assert forgotten == 2
    assert freed > 10_000
    assert _files(tmp_path) == set()
    for table in ("model_call", "model_call_body", "call_piece", "piece"):
        assert _count(tmp_path, table) == 0, table


def test_answers_that_are_pruned_leave_nothing_behind(tmp_path: Path) -> None:
    with open_store(tmp_path, clock=lambda: NOON) as store:
        for key in "ab":
            store.answers.keep(KeptAnswer(key, "fake", "m", _NOISE.decode()), NOON)
        assert _files(tmp_path) == {"answer-blobs"}
        store.answers.prune(NOON + timedelta(days=9), _DAY, None)
    assert _files(tmp_path) == set()
    assert _count(tmp_path, "kept_answer") == 0


def test_a_file_that_two_answers_name_stays_for_the_other(tmp_path: Path) -> None:
    with open_store(tmp_path, clock=lambda: NOON + timedelta(days=8)) as store:
        for key in "ab":
            store.answers.keep(KeptAnswer(key, "fake", "m", _NOISE.decode()), NOON)
        assert store.answers.get("b") is not None
        assert store.answers.prune(NOON + timedelta(days=9), 2 * _DAY, None)[0] == 1
        assert store.answers.get("b") == KeptAnswer("b", "fake", "m", _NOISE.decode())


def test_files_that_a_crash_left_go_with_the_next_prune(tmp_path: Path) -> None:
    Blobs(tmp_path / "answer-blobs").pack(_NOISE)
    Blobs(tmp_path / "call-blobs").pack(_NOISE)
    Blobs(tmp_path / "blobs").pack(_NOISE)
    with open_store(tmp_path) as store:
        store.answers.prune(NOON, _DAY, None)
        store.calls.prune(NOON, _DAY)
    assert _files(tmp_path) == {"blobs"}


@pytest.fixture
def crowded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Give a store of which another process prunes all just before each write lock."""
    with open_store(tmp_path, clock=lambda: NOON) as store, open_store(tmp_path) as other:
        write = store._database.write

        def pruned_first(*, references: bool = True) -> AbstractContextManager[Connection]:
            other.answers.prune(NOON + timedelta(days=9), None, 0)
            other.calls.prune(NOON + timedelta(days=9), _DAY)
            return write(references=references)

        monkeypatch.setattr(store._database, "write", pruned_first)
        yield store


def test_an_answer_whose_file_is_pruned_before_it_is_on_record_is_kept(crowded: Store) -> None:
    answer = KeptAnswer("k", "fake", "m", _NOISE.decode())
    crowded.answers.keep(answer, NOON)
    assert crowded.answers.get("k") == answer


def test_pieces_that_are_pruned_before_a_call_is_on_record_are_kept(crowded: Store) -> None:
    body = CallBody(request=a_conversation(9, 3), response=_NOISE)
    for number in (1, 2):
        crowded.calls.add([(a_call(number), body)])
        assert crowded.calls.body(a_call(number).id) == body

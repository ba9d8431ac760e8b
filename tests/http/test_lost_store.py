"""A store that cannot be used any more while it is served: never a 2xx, never silence."""

from __future__ import annotations

import http.client
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from tests.http.api import JSON
from tests.http.conftest import PATIENCE_S, Server, running

from fairtrial.app.bench import Bench

OPENED = b'{"name": "x", "graders": [{"name": "ok"}]}'


def _newer(bench: Bench) -> None:
    with closing(sqlite3.connect(bench.home / "fairtrial.db")) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.commit()


def _gone(bench: Bench) -> None:
    for file in bench.home.glob("fairtrial.db*"):
        file.unlink()


LOST = pytest.mark.parametrize(
    ("lose", "said"), [(_newer, "written by a newer fairtrial"), (_gone, "is gone")]
)


@LOST
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v2/experiments"),
        ("GET", "/v2/experiments/faq/rows"),
        ("GET", "/v2/projects"),
        ("GET", "/v2/events"),
        ("POST", "/v2/experiments"),
        ("GET", "/experiments"),
    ],
)
def test_nothing_is_read_or_written(
    server: Server, lose: Callable[[Bench], None], said: str, method: str, path: str
) -> None:
    lose(server.bench)
    body = OPENED if method == "POST" else None
    answer = server.ask(path, method, body, JSON)
    assert answer.status == 503
    assert said in answer.json["what"]


@LOST
def test_telemetry_is_to_be_sent_again(
    server: Server, lose: Callable[[Bench], None], said: str
) -> None:
    lose(server.bench)
    sent = b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "x"}]}]}]}'
    answer = server.ask("/v1/traces", "POST", sent, JSON)
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert said in answer.json["message"]


@LOST
def test_watchers_are_let_go(server: Server, lose: Callable[[Bench], None], said: str) -> None:
    connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)
    with closing(connection):
        connection.request("GET", "/v2/events")
        answer = connection.getresponse()
        assert answer.readline() == b": ready\n"
        lose(server.bench)
        answer.read()  # to its end
    assert said in server.ask("/v2/events").json["what"]


def test_a_key_that_cannot_be_looked_up_is_a_problem(server: Server) -> None:
    _gone(server.bench)
    answer = server.ask("/v2/projects", headers={"authorization": "Bearer ftk_x"})
    assert answer.status == 503


def test_writers_that_wait_keep_no_reader_waiting(bench: Bench) -> None:
    with running(bench, host="0.0.0.0") as server:  # noqa: S104  # keys are looked up
        known = {"authorization": f"Bearer {server.key('ci', 'write')}"}
        wanted = (OPENED, {**JSON, **known})
        with ThreadPoolExecutor(20) as pool:
            with closing(sqlite3.connect(bench.home / "fairtrial.db")) as database:
                database.execute("BEGIN IMMEDIATE")
                waiting = [
                    pool.submit(server.ask, "/v2/experiments", "POST", *wanted) for _ in range(20)
                ]
                time.sleep(0.5)  # until they wait
                assert server.ask("/v2/experiments", headers=known).status == 200
                assert not any(one.done() for one in waiting)
                database.rollback()
            assert {one.result().status for one in waiting} == {201}

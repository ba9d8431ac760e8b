"""The call log in a process of its own: it loses nothing, and nobody waits for it in vain."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairtrial.model.errors import StoreError
from fairtrial.model.recorded_call import CallOwner, CallQuery, RecordedCall
from fairtrial.model.trial import TrialKey
from fairtrial.recording.describing import Describer
from fairtrial.recording.exchange import Exchange
from fairtrial.recording.log_process import ProcessLog
from fairtrial.store.opening import open_store

OWNER = CallOwner("exp_1", TrialKey("c1", "", "main", 1))
PROGRAM = (sys.executable, "-m", "fairtrial.app.proxy_log", "proxy_test")


@pytest.fixture
def told() -> list[RecordedCall]:
    return []


@pytest.fixture
def log(told: list[RecordedCall]) -> Iterator[ProcessLog]:
    log = ProcessLog(PROGRAM, os.environ, Describer(lambda _: "unused"), told.append)
    yield log
    log.close()


def exchange(body: bytes = b'{"model": "m"}', token: str | None = None) -> Exchange:
    fields = [(b"content-type", b"application/json")]
    one = Exchange("POST", "/v1/messages", fields, "http://x", datetime.now(UTC), 1.0, token)
    one.request.add(body)
    return one


def finish(one: Exchange, answer: bytes = b'{"a": 1}') -> Exchange:
    one.status, one.first_byte, one.ended = 200, 1.5, 2.0
    one.response_headers = [(b"content-type", b"application/json")]
    one.response.add(answer)
    return one


def stored() -> list[tuple[RecordedCall, bytes, bytes]]:
    store = open_store(Path(os.environ["FAIRTRIAL_HOME"]))
    try:
        calls = store.calls.newest(CallQuery())
        bodies = [store.calls.body(call.id) for call in calls]
        return [
            (call, body.request, body.response) for call, body in zip(calls, bodies, strict=True)
        ]
    finally:
        store.close()


def test_a_call_is_sent_in_two_parts_and_stored_whole(
    log: ProcessLog, told: list[RecordedCall]
) -> None:
    one = exchange()
    log.put(one)
    log.put(finish(one))
    log.put(one)  # once more is not twice
    log.flush()
    ((call, request, response),) = stored()
    assert (request, response) == (b'{"model": "m"}', b'{"a": 1}')
    assert (call.session, call.number, call.status) == ("proxy_test", 1, 200)
    assert (call.first_byte_s, call.duration_s) == (0.5, 1.0)
    assert told == [call]


def test_calls_get_their_numbers_by_when_they_were_made(
    log: ProcessLog, told: list[RecordedCall]
) -> None:
    first, second = exchange(b'{"model": "a"}'), exchange(b'{"model": "b"}')
    log.put(first)
    log.put(second)
    log.put(finish(second))
    log.put(finish(first))
    log.flush()
    assert {call.model: call.number for call in told} == {"a": 1, "b": 2}


def test_a_large_body_passes(log: ProcessLog) -> None:
    body = b'"' + b"x" * 5_000_000 + b'"'
    log.put(finish(exchange(body), body))
    log.flush()
    assert stored()[0][1:] == (body, body)


def test_calls_of_a_trial_come_back(log: ProcessLog) -> None:
    log.own("t", OWNER, "mine")
    log.put(finish(exchange(token="t")))  # noqa: S106  # no password
    log.put(finish(exchange()))
    log.flush()
    assert [(call.owner, call.session) for call in log.disown("t")] == [(OWNER, "mine")]
    assert log.disown("t") == []


def test_nobody_waits_for_a_log_that_died(log: ProcessLog) -> None:
    log.put(finish(exchange()))
    log.flush()
    os.kill(log._process.pid, signal.SIGKILL)
    log.put(finish(exchange()))
    for _ in range(2):
        with pytest.raises(StoreError, match="ended"):
            log.flush()
    assert log.lost == 1


def test_what_a_proxy_gave_is_stored_when_it_dies() -> None:
    code = f"""
import os, signal, sys
sys.path[:0] = {[str(Path(__file__).parent), *sys.path]!r}
from fairtrial.recording.describing import Describer
from fairtrial.recording.log_process import ProcessLog
from test_log_process import PROGRAM, exchange, finish
log = ProcessLog(PROGRAM, os.environ, Describer(lambda _: "unused"))
for _ in range(50):
    log.put(finish(exchange()))
log._orders.put(None)
log._threads[0].join()  # it has written everything
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    # Its log goes on as an orphan, which nobody can wait for.
    for _ in range(1_000):
        if len(stored()) == 50:
            break
        threading.Event().wait(0.02)
    assert len(stored()) == 50

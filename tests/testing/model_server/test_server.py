"""What the scripted server does by itself: its script, its faults, its end."""

from __future__ import annotations

import gzip
import http.client
import json
import threading
import time

import pytest
import zstandard

from fairtrial.model.json import Json
from fairtrial.testing.model_server import Fault, ModelServer, ScriptedAnswer, ScriptedRequest

PATH = "/v1/chat/completions"


def post(
    server: ModelServer, body: Json, headers: dict[str, str] | None = None, path: str = PATH
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=30)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body)
        connection.request("POST", path, data, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def text_of(answer: tuple[int, bytes]) -> str:
    return str(json.loads(answer[1])["choices"][0]["message"]["content"])


def test_answers_come_in_their_order_and_the_last_is_repeated() -> None:
    with ModelServer([ScriptedAnswer("one"), ScriptedAnswer("two")]) as server:
        assert [text_of(post(server, {})) for _ in range(3)] == ["one", "two", "two"]
        assert [request.number for request in server.calls] == [0, 1, 2]


def test_a_function_answers_what_it_is_asked() -> None:
    def script(request: ScriptedRequest) -> ScriptedAnswer:
        return ScriptedAnswer(request.text.upper())

    with ModelServer(script) as server:
        assert text_of(post(server, {"messages": [{"role": "user", "content": "hi"}]})) == "HI"


def test_a_broken_script_fails_the_test() -> None:
    def script(_: ScriptedRequest) -> ScriptedAnswer:
        raise LookupError("the script does not know")

    with (
        pytest.raises(LookupError, match="the script does not know"),
        ModelServer(script) as server,
    ):
        assert post(server, {})[0] == 500


def test_what_came_is_kept_without_credentials() -> None:
    headers = {"Authorization": "Bearer sk-secret", "X-Api-Key": "sk-secret", "Cookie": "sk-secret"}
    with ModelServer() as server:
        post(server, {"model": "m"}, headers, "/v1/messages?beta=true")
        post(server, zstandard.compress(b'{"model": "z"}'), {"Content-Encoding": "zstd"})
        post(server, gzip.compress(b'{"model": "g"}'), {"Content-Encoding": "gzip"})
        post(server, b"no json")
    first, second, third, fourth = server.requests
    assert (first.path, first.body) == ("/v1/messages?beta=true", {"model": "m"})
    assert (second.model, third.model, fourth.body) == ("z", "g", "no json")
    assert "sk-secret" not in repr(server.requests)
    assert first.headers["authorization"] == "present"


@pytest.mark.parametrize("fault", [Fault.CUT_STREAM, Fault.NO_END, Fault.INVALID_JSON])
def test_a_broken_stream_has_no_end(fault: Fault) -> None:
    with ModelServer([ScriptedAnswer("word " * 20, fault=fault)]) as server:
        try:
            body = post(server, {"stream": True})[1]
        except http.client.IncompleteRead as error:
            body = error.partial
    assert b"data: " in body
    assert b"[DONE]" not in body


def test_the_other_faults() -> None:
    faults = [Fault.EMPTY, Fault.INVALID_JSON, Fault.HUGE, Fault.SLOW_FIRST_BYTE]
    answers = [ScriptedAnswer(fault=fault, huge_bytes=300_000, slow_s=0.01) for fault in faults]
    with ModelServer(answers) as server:
        assert post(server, {}) == (200, b"")
        with pytest.raises(json.JSONDecodeError):
            text_of(post(server, {}))
        assert len(text_of(post(server, {}))) == 300_000
        assert text_of(post(server, {})) == "Hello!"


def test_the_wrong_key_and_an_unknown_model() -> None:
    with ModelServer(api_key="right", strict=True, models=("known",)) as server:
        assert post(server, {})[0] == 401
        key = {"Authorization": "Bearer right"}
        assert post(server, {"model": "other"}, key)[0] == 404
        assert post(server, {"model": "known"}, key)[0] == 200


def test_a_hanging_answer_ends_with_the_server_and_a_client_that_leaves_is_counted() -> None:
    with ModelServer([ScriptedAnswer(fault=Fault.HANG)]) as server:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
        connection.request("POST", PATH, "{}")
        server.wait_until(lambda it: len(it.calls) == 1)
        connection.close()
        server.wait_until(lambda it: it.gone == 1)
        stays = threading.Thread(target=_left_alone, args=(server,))
        stays.start()
        server.wait_until(lambda it: len(it.calls) == 2)
        before = time.monotonic()
    assert time.monotonic() - before < 10
    stays.join(10)
    assert not stays.is_alive()


def test_a_websocket_is_refused_and_the_root_answers() -> None:
    with ModelServer() as server:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
        statuses = []
        for method, path in [("GET", "/v1/responses"), ("HEAD", "/"), ("GET", "/else")]:
            connection.request(method, path)
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
        connection.close()
    assert statuses == [426, 200, 404]


def _left_alone(server: ModelServer) -> None:
    with pytest.raises((OSError, http.client.HTTPException)):
        post(server, {})

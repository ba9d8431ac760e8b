"""What changes in the store is told to whoever watches."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from tests.http import telling
from tests.http.api import Api
from tests.http.conftest import PATIENCE_S, Server, running

from fairtrial.app.bench import Bench
from fairtrial.cli.main import main


@contextmanager
def watching(server: Server) -> Iterator[Iterator[tuple[str, Any]]]:
    """Watch a server, once it looks."""
    connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)
    with closing(connection):
        connection.request("GET", "/v2/events")
        answer = connection.getresponse()
        assert answer.getheader("content-type", "").startswith("text/event-stream")
        assert answer.readline() == b": ready\n"
        yield events(answer)


def events(answer: http.client.HTTPResponse) -> Iterator[tuple[str, Any]]:
    kind = ""
    while line := answer.readline().decode():
        if line.startswith("event: "):
            kind = line.removeprefix("event: ").strip()
        elif line.startswith("data: "):
            yield kind, json.loads(line.removeprefix("data: "))


def test_a_session_that_comes_in_is_told_to_all_watchers(server: Server) -> None:
    with watching(server) as first, watching(server) as second:
        telling.send(server.url, telling.recorded(telling.program))
        for told in (first, second):
            kind, found = next(told)
            assert (kind, found["native_id"]) == ("session", "conv-1")
        listed = server.ask("/v2/sessions").json["sessions"]
        assert set(listed[0]) == set(found)


def test_what_another_writer_does_is_told_too(server: Server) -> None:
    from pathlib import Path  # noqa: PLC0415

    Path("cases.jsonl").write_text('{"id": "a", "input": "x"}\n')
    task = {"kind": "command", "command": ["cat"]}
    Path("spec.json").write_text(json.dumps({"dataset": "d", "task": task, "graders": ["exact"]}))
    main(["dataset", "add", "d", "cases.jsonl"])
    with watching(server) as told:
        main(["exp", "run", "spec.json", "--name", "watched"])
        last = next(found for kind, found in told if found["status"] != "running")
        assert last["name"] == "watched"


def test_the_end_of_the_server_ends_the_stream(bench: Bench) -> None:
    with running(bench) as server, watching(server) as told:
        server.stop()
        assert list(told) == []


def test_who_comes_back_is_told_what_was_missed(server: Server) -> None:
    api = Api(server)

    def ask(last: str | None) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)
        connection.request("GET", "/v2/events", headers={"last-event-id": last} if last else {})
        answer = connection.getresponse()
        assert answer.readline() == b": ready\n"
        return connection, answer

    connection, answer = ask(None)
    with closing(connection):
        api.opened(name="seen")
        lines = [answer.readline().decode() for _ in range(2)]
        last = next(line for line in lines if line.startswith("id: ")).removeprefix("id: ").strip()
    api.opened(name="missed")
    connection, answer = ask(last)
    with closing(connection):
        assert next(found["name"] for _, found in events(answer) if found["name"] != "seen")
    connection, answer = ask("of-another-run-7")
    with closing(connection):
        assert next(events(answer)) == ("missed", {})

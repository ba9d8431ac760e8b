"""`fairtrial push` to a server."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command, fairtrial
from tests.cli.test_push import row, two_runs
from tests.http.conftest import Server

from fairtrial.app.pushing.server import Server as Destination
from fairtrial.model.errors import FairtrialError

__all__ = ["fairtrial"]


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A store of this process that is not that of the server."""
    monkeypatch.setenv("FAIRTRIAL_HOME", str(tmp_path / "elsewhere"))


def test_runs_arrive_once_and_are_compared_there(
    server: Server, elsewhere: None, fairtrial: Command
) -> None:
    del elsewhere
    a, b = two_runs()
    words = ("push", a, b, "--dataset", "faq", "--url", server.url, "--json")
    first, second = fairtrial(*words), fairtrial(*words)
    assert (first.code, second.code) == (0, 0), first.err
    ids = [[one["experiment"]["id"] for one in found.json["pushed"]] for found in (first, second)]
    assert ids[0] == ids[1]
    assert [one["again"] for one in second.json["pushed"]] == [True, True]
    assert fairtrial("exp", "list", "--json").json["experiments"] == []
    compared = server.ask(f"/v2/comparisons?a={ids[0][0]}&b={ids[0][1]}").json
    assert compared["counts"]["fixed"] == 1
    assert [one["dataset"] for one in (server.ask("/v2/experiments").json["experiments"])] == [
        "faq@1",
        "faq@1",
    ]


def test_a_push_that_broke_off_goes_on(
    server: Server, elsewhere: None, fairtrial: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    del elsewhere
    a, _ = two_runs()
    words = ("push", a, "--url", server.url, "--json")
    taken = Destination.take
    monkeypatch.setattr("fairtrial.app.pushing.destinations._MOST_ROWS", 2)
    calls = iter(range(9))

    def breaking(self: Destination, experiment: str, body: bytes, key: str) -> None:
        if next(calls) == 1:
            raise FairtrialError("the server does not take it")
        taken(self, experiment, body, key)

    with monkeypatch.context() as patched:
        patched.setattr(Destination, "take", breaking)
        assert fairtrial(*words).code == 4
    (half,) = server.ask("/v2/experiments").json["experiments"]
    assert (half["status"], half["n_recorded"]) == ("running", 2)
    (done,) = fairtrial(*words).json["pushed"]
    assert (done["experiment"]["id"], done["again"]) == (half["id"], False)
    assert (done["experiment"]["status"], done["experiment"]["n_recorded"]) == ("finished", 6)


def test_keys_and_projects(
    server: Server, elsewhere: None, fairtrial: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    del elsewhere
    a, _ = two_runs()
    refused = fairtrial("push", a, "--url", server.url, "--key", server.key("one"))
    assert refused.code == 77
    assert "this key may only read" in refused.err
    Path("key").write_text(server.key("two", "write") + "\n", encoding="utf-8")
    monkeypatch.setenv("FAIRTRIAL_URL", server.url + "/")
    assert fairtrial("push", a, "--key", "@key").code == 0
    assert fairtrial("push", a, "--project", "none").code == 66
    body = json.dumps({"name": "shop"}).encode()
    server.ask("/v2/projects", "POST", body, {"content-type": "application/json"})
    there = fairtrial("push", a, "--project", "shop", "--json").json["pushed"][0]
    assert there["again"] is False
    assert there["experiment"]["spec"]["base_dir"].endswith("shop")


def test_a_row_that_no_server_takes_is_made_smaller(
    server: Server, elsewhere: None, fairtrial: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    del elsewhere
    monkeypatch.setattr("fairtrial.app.pushing.server._LARGEST_ROW", 2_000)
    rows = [row(0, 1, output="x" * 4_000), row(1, 1, spans=[{"name": "y" * 4_000}])]
    Path("large.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = fairtrial("push", "large.jsonl", "--url", server.url, "--json").json["pushed"][0]
    assert sorted(note["what"] for note in found["notes"]) == [
        "trials whose output is larger than a server takes: left out",
        "trials whose spans is larger than a server takes: left out",
    ]
    assert found["experiment"]["passed"] == 2


@contextmanager
def answering(*answers: tuple[int, bytes, dict[str, str]]) -> Iterator[tuple[str, list[Any]]]:
    """Serve answers, one after another; yield the address and what was asked."""
    left, asked = list(answers), list[Any]()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # its name is given
            asked.append((self.path, dict(self.headers)))
            self.rfile.read(int(self.headers["content-length"]))
            status, body, headers = left.pop(0)
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_address[1]}", asked
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def test_what_may_pass_is_tried_again_and_a_redirect_is_not_followed() -> None:
    waits: list[float] = []
    busy = (503, b"", {"retry-after": "7"})
    with answering(busy, (502, b"", {}), (200, b'{"id": "x"}', {})) as (url, asked):
        told = Destination(url, "ftk_secret", None, waits.append).open(b"{}", "one")
        assert told == {"id": "x"}
    assert waits == [7, 1.0]
    assert {headers["Idempotency-Key"] for _, headers in asked} == {"one"}
    moved = (302, b"", {"location": "http://127.0.0.1:1/v2/experiments"})
    with answering(moved) as (url, _), pytest.raises(FairtrialError, match="answered 302"):
        Destination(url, "ftk_secret", None, waits.append).open(b"{}", None)
    with answering((200, b"<html>", {})) as (url, _), pytest.raises(FairtrialError, match="no f"):
        Destination(url, None, None, waits.append).open(b"{}", None)
    with answering(*[busy] * 4) as (url, _), pytest.raises(FairtrialError, match="answered 503"):
        Destination(url, None, None, waits.append).finish("exp_x", b"{}")

"""Pages of sessions, trends and datasets, without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.http.conftest import Answer, Server
from tests.sessions.transcripts import Claude

from fairtrial.cli.main import main
from fairtrial.http.web.pages import sessions as paging

PAGE = {"accept": "text/html"}


@pytest.fixture
def session(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session of five prompts."""
    del folder
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    claude = Claude()
    for number in range(5):
        claude.prompt(f"Ask {number}.")
        claude.said(f"Answer {number}.")
        claude.next_message()
    claude.write(tmp_path / "claude")
    assert main(["sessions", "sync"]) == 0


def look(server: Server, path: str) -> Answer:
    return server.ask(path, headers=PAGE)


def post(server: Server, path: str, body: str) -> Answer:
    kind = "application/x-www-form-urlencoded"
    headers = {**PAGE, "content-type": kind, "origin": server.url}
    return server.ask(path, "POST", body.encode(), headers)


@pytest.mark.usefixtures("session")
def test_a_long_transcript_goes_on_page_by_page(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "_EVENTS", 4)
    seen: list[str] = []
    path = "/sessions/latest"
    for _ in range(3):
        text = look(server, path).body.decode()
        seen += [word for n in range(5) for word in (f"Ask {n}.", f"Answer {n}.") if word in text]
        if 'rel="next" href="' not in text:
            break
        path = text.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    assert "Earlier" in text
    assert sorted(set(seen)) == sorted(f"{w} {n}." for n in range(5) for w in ("Ask", "Answer"))


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/sessions/ses_nothing", 404, "ses_nothing"),
        ("/sessions/latest?thread=x", 404, "it has: main"),
        ("/sessions/latest/events/999", 404, "has no event 999"),
        ("/sessions/latest/events/1", 200, "Ask 0."),
        ("/sessions?where=nonsense+%3D", 400, "column"),
        ("/trend?series=x", 404, "no experiment in a series"),
        ("/trend?series=x&dataset=y", 400, "both name a loop"),
        ("/trend", 200, "No series yet"),
        ("/datasets", 200, "No dataset yet"),
        ("/datasets/nothing", 404, "nothing"),
    ],
)
def test_each_address_has_its_status(server: Server, path: str, status: int, said: str) -> None:
    answer = look(server, path)
    assert answer.status == status
    assert said in answer.body.decode()


@pytest.mark.usefixtures("session")
def test_what_cannot_be_kept_is_said_beside_what_was_typed(server: Server) -> None:
    answer = post(server, "/sessions/latest/case", "dataset=a%40b")
    assert answer.status == 400
    assert b"no name of a dataset" in answer.body
    assert b'value="a@b"' in answer.body
    answer = post(server, "/sessions/latest/case", "dataset=mine")
    assert answer.status == 303
    assert "mine%401" in answer.headers["location"]
    assert b"mine" in look(server, "/datasets").body

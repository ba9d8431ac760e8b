"""What people say of rows on the page of reviews, and experiments taken along as files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.http.conftest import Answer, Server
from tests.http.test_pages import look, post

from fairtrial.cli.main import main

ROW = "row=%5B%22a%22%2C%22default%22%2C%22main%22%5D"


@pytest.fixture(autouse=True)
def _experiment(folder: Path) -> None:
    """An experiment whose name is none of a file."""
    (folder / "cases.jsonl").write_text('{"id": "a", "input": "<b>x", "expected": "y"}\n')
    spec = {
        "dataset": "d",
        "task": {"kind": "command", "command": ["cat"]},
        "graders": ["contains"],
        "name": '../"one"',
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    main(["dataset", "add", "d", "cases.jsonl"])
    assert main(["exp", "run", "spec.json"]) == 0


def settled(server: Server, opinion: str, show: str = "", note: str = "") -> Answer:
    text = look(server, f"/review{'?show=settled' if show else ''}").body.decode()
    ref = text.split('action="/review/')[1].split('"')[0]
    return post(server, f"/review/{ref}", f"opinion={opinion}&note={note}&show={show}")


def test_a_row_is_seen_before_what_the_graders_said(server: Server) -> None:
    exp = _id(server)
    assert post(server, f"/experiments/{exp}/rows/review", ROW).status == 303
    text = look(server, "/review").body.decode()
    seen, said = text.split("What the graders said")
    assert "&lt;b&gt;x" in seen.split("<dt>Output</dt>")[1]
    assert "<dd><bdi>y</bdi></dd>" in seen
    assert "missing" not in seen
    assert "missing" in said


def test_a_word_may_be_changed_and_is_exported(server: Server) -> None:
    exp = _id(server)
    address = f"/experiments/{exp}/export/labels"
    assert look(server, address).status == 404
    post(server, f"/experiments/{exp}/rows/review", ROW)
    assert settled(server, "passed").headers["location"] == "/review"
    again = settled(server, "failed", "settled", "no%0Abut")
    assert again.headers["location"] == "/review?show=settled"
    text = look(server, "/review?show=settled").body.decode()
    assert f'href="{address}"' in text
    sent = look(server, address)
    assert json.loads(sent.body) == {
        "caseId": "a",
        "condition": "default",
        "value": "fail",
        "note": "no\nbut",
    }
    by_program = server.ask(f"/v2/experiments/{exp}/labels").json
    assert by_program["text"] == sent.body.decode()


@pytest.mark.parametrize(
    ("form", "begins", "name"),
    [
        ("html", b"<!doctype html>", "one.html"),
        ("markdown", b"", "one.md"),
        ("junit", b"<?xml", "one.xml"),
        ("jsonl", b"{", "one.jsonl"),
        ("csv", b"", "one.csv"),
    ],
)
def test_an_experiment_is_a_file_to_keep(
    server: Server, form: str, begins: bytes, name: str
) -> None:
    answer = look(server, f"/experiments/{_id(server)}/export/{form}")
    assert answer.status == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.body.lower().startswith(begins)
    assert answer.body


def test_a_form_that_nobody_writes_is_not_there(server: Server) -> None:
    answer = look(server, f"/experiments/{_id(server)}/export/pdf")
    assert answer.status == 404
    assert b"one of html, markdown" in answer.body


def _id(server: Server) -> str:
    found: str = server.ask("/v2/experiments").json["experiments"][0]["id"]
    return found

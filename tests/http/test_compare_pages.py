"""The page of a comparison, without a browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.http.conftest import Server

from fairtrial.app import compare_page as paging
from fairtrial.cli.main import main


@pytest.fixture
def two(folder: Path) -> None:
    """Two experiments `one` and `two` of 5 cases; the second breaks all and drops none."""
    cases = [{"id": f"c{n}", "input": "x", "expected": "x"} for n in range(5)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    main(["dataset", "add", "d", "cases.jsonl"])
    for name, command in (("one", ["cat"]), ("two", ["echo", "no"])):
        spec = {"dataset": "d", "task": {"kind": "command", "command": command}}
        (folder / "spec.json").write_text(json.dumps({**spec, "graders": ["contains"]}))
        main(["exp", "run", "spec.json", "--name", name])


def look(server: Server, path: str, status: int = 200) -> str:
    answer = server.ask(path, headers={"accept": "text/html"})
    assert answer.status == status
    return answer.body.decode()


@pytest.mark.usefixtures("two")
def test_rows_go_on_page_by_page(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "PAGE", 2)
    seen: list[str] = []
    path = "/compare?a=one&b=two"
    for _ in range(3):
        text = look(server, path)
        seen += [f"c{n}" for n in range(5) if f"<bdi>c{n}</bdi></a>" in text]
        if 'rel="next" href="' not in text:
            break
        path = text.split('rel="next" href="')[1].split("#")[0].replace("&amp;", "&")
    assert seen == ["c0", "c1", "c2", "c3", "c4"]


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/compare", 400, "which experiment"),
        ("/compare?a=one&b=one", 400, "the same experiment"),
        ("/compare?a=exp_gone&b=two", 404, "there is no experiment"),
        ("/compare?a=one&b=two&after=nonsense", 400, "names no row"),
        ("/compare?a=one&b=two&row=%5B%22z%22,%22default%22,%22main%22%5D", 404, "such a row"),
        ("/compare?b=one", 404, "baseline"),
    ],
)
def test_what_is_wrong_is_said(server: Server, path: str, status: int, said: str) -> None:
    assert said in look(server, path, status)

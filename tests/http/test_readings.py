"""Experiments and sessions by the API: what the verbs say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.http.conftest import Server

from fairtrial import __version__
from fairtrial.cli.main import main


@pytest.fixture
def experiments(folder: Path) -> list[str]:
    """Names of two experiments that ran."""
    Path("cases.jsonl").write_text('{"id": "a", "input": "x", "expected": "x"}\n')
    spec = {
        "dataset": "d",
        "task": {"kind": "command", "command": ["cat"]},
        "graders": ["contains"],
    }
    Path("spec.json").write_text(json.dumps(spec))
    main(["dataset", "add", "d", "cases.jsonl"])
    for name in ("first", "second"):
        assert main(["exp", "run", "spec.json", "--name", name]) == 0
    del folder
    return ["first", "second"]


def test_health(server: Server) -> None:
    assert server.ask("/v2/health").json == {
        "schema": "fairtrial.health/1",
        "status": "ok",
        "version": __version__,
    }


def test_experiments_come_page_by_page(server: Server, experiments: list[str]) -> None:
    page = server.ask("/v2/experiments?limit=1").json
    assert [found["name"] for found in page["experiments"]] == experiments[1:]
    following = server.ask(f"/v2/experiments?limit=1&cursor={page['next']}").json
    assert [found["name"] for found in following["experiments"]] == experiments[:1]
    assert following["next"] is None


def test_an_experiment_is_what_the_command_prints(
    server: Server, experiments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    del experiments
    capfd.readouterr()
    main(["exp", "show", "first", "--json"])
    printed = json.loads(capfd.readouterr().out)
    assert server.ask("/v2/experiments/first").json == printed
    case = server.ask("/v2/experiments/first?case=a").json
    assert case["schema"] == "fairtrial.case/1"


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/v2/experiments/none", 404, "there is no experiment none"),
        ("/v2/sessions/none", 404, "there is no session none"),
        ("/v2/experiments?cursor=none", 404, "none"),
        ("/v2/experiments?limt=1", 400, "did you mean 'limit'?"),
        ("/v2/experiments?limit=x", 400, "expected int"),
        ("/v2/experiments?limit=0", 400, "limit"),
        ("/v2/experiments?limit=1e9", 400, "limit"),
        ("/v2/experiments?before=x", 400, "unknown 'before'"),
        ("/v2/experiments/x?plot=/etc/passwd", 400, "unknown 'plot'"),
        ("/v2/sessions?where=is:", 400, "column"),
        ("/v2/nothing", 404, "nothing at this address"),
    ],
)
def test_what_does_not_fit_is_a_problem(server: Server, path: str, status: int, said: str) -> None:
    answer = server.ask(path)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert said in answer.json["detail"]


def test_sessions_can_be_filtered(server: Server) -> None:
    page = server.ask("/v2/sessions?where=is:flagged%20and%20agent=codex&since=14d&limit=5").json
    assert page == {"schema": "fairtrial.sessions/1", "sessions": [], "next": None}


def test_the_api_describes_itself(server: Server) -> None:
    document = server.ask("/v2/openapi.json").json
    assert document["openapi"].startswith("3.1")
    get = document["paths"]["/v2/experiments"]["get"]
    assert {"limit", "cursor"} <= {parameter["name"] for parameter in get["parameters"]}
    assert "Problem" in document["components"]["schemas"]
    parameters = document["paths"]["/v2/experiments/{experiment}"]["get"]["parameters"]
    assert "plot" not in {parameter["name"] for parameter in parameters}


def test_a_defect_is_told_without_its_traceback(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_bench: object, _request: object) -> None:
        raise RuntimeError("secret of the house")

    monkeypatch.setattr("fairtrial.app.exp_list.exp_list", broken)
    answer = server.ask("/v2/experiments")
    assert answer.status == 500
    assert "RuntimeError" in answer.json["what"]
    assert "secret" not in answer.body.decode()
    assert "secret of the house" in (server.bench.home / "crashes.log").read_text()

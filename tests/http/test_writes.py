"""Experiments that are reported by the API, and what else it writes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.http.api import GRADER, JSON, Api, row
from tests.http.conftest import Server

from fairtrial.app.bench import Bench
from fairtrial.cli.main import main


@pytest.fixture
def api(server: Server) -> Api:
    return Api(server)


def test_an_experiment_from_its_opening_to_its_comparison(api: Api) -> None:
    ids = []
    for name, value in (("before", 0), ("after", 1)):
        told = {
            "dataset": "faq",
            "git": {"commit": "ab" * 20, "branch": "main"},
            "environment": "ci",
            "pull_request": "12",
            "version": name,
        }
        found = api.opened(name=name, **told)
        batch = [row(f"c{number}", value) for number in range(3)] + [row("same", 1)]
        taken = api.done(f"/v2/experiments/{found}/rows", {"rows": batch})
        assert [trial["trial"] for trial in taken["trials"]] == [1] * 4
        ended = api.done(f"/v2/experiments/{found}/finish")
        assert (ended["status"], ended["dataset"]) == ("finished", "faq@1")
        told = ended["provenance"]
        assert (told["git_branch"], told["environment"], told["source"]) == ("main", "ci", "api")
        ids.append(found)
    compared = api.ask(f"/v2/comparisons?a={ids[0]}&b={ids[1]}")
    assert [compared["counts"][kind] for kind in ("fixed", "broken", "same")] == [3, 0, 1]
    page = api.ask(f"/v2/experiments/{ids[0]}/rows?where=is:failed&limit=2")
    assert (page["n_rows"], len(page["rows"])) == (3, 2)
    listed = api.ask("/v2/experiments?where=source=api%20and%20branch=main")
    assert [one["id"] for one in listed["experiments"]] == ids[::-1]
    assert api.ask(f"/v2/experiments/{ids[1]}/rows/c1")["trials"][0]["output"] == "out"
    assert api.ask(f"/v2/experiments/{ids[1]}/status")["schema"] == "fairtrial.status/1"
    assert api.ask("/v2/datasets/faq/cases?limit=3")["next"] == "1.3"


def test_verdicts_are_made_here(api: Api) -> None:
    found = api.opened(graders=[{"name": "ok", "threshold": 0.8}, {"name": "style"}])
    rows = [
        row("below", 0.79, scores={"ok": 0.79, "style": 1}),
        row("missing", 1),
        row("crashed", None, problem={"cause": "task", "reason": "exit 1"}),
        row("limited", None, problem={"cause": "infra", "reason": "429"}),
        row("fine", scores={"ok": {"value": 0.8, "reason": "near"}, "style": 1}),
    ]
    api.done(f"/v2/experiments/{found}/rows", {"rows": rows})
    for case, verdict, cause in (
        ("below", "failed", None),
        ("missing", "undecided", "grader"),
        ("crashed", "failed", "task"),
        ("limited", "undecided", "infra"),
        ("fine", "passed", None),
    ):
        (trial,) = api.ask(f"/v2/experiments/{found}/rows/{case}")["trials"]
        assert (trial["verdict"], trial["cause"]) == (verdict, cause)


def test_cases_that_gather_are_no_version_yet(server: Server, api: Api) -> None:
    found = api.opened(dataset="faq")
    api.done(f"/v2/experiments/{found}/rows", {"rows": [row("a")]})
    assert api.ask(f"/v2/experiments/{found}")["dataset"] == "faq"
    for path in ("/experiments", f"/experiments/{found}"):
        page = server.ask(path).body.decode()
        assert "version when it finishes" in page
        assert "@-" not in page
    api.done(f"/v2/experiments/{found}/finish")
    assert api.ask(f"/v2/experiments/{found}")["dataset"] == "faq@1"
    assert "version when it finishes" not in server.ask("/experiments").body.decode()


def test_what_is_not_told_is_unknown_and_no_zero(server: Server, api: Api) -> None:
    found = api.opened(gate=[{"duration_s": {"mean_at_most": 9}}])
    scored = {"ok": {"value": 1, "cost_usd": 0.25}}
    untold, told = row("a"), row("b", duration_s=3.0, scores=scored)
    api.done(f"/v2/experiments/{found}/rows", {"rows": [untold]})
    assert api.ask(f"/v2/experiments/{found}")["duration_s"] is None
    page = server.ask(f"/experiments/{found}").body.decode()
    assert "no trial told how long it took" in page
    api.done(f"/v2/experiments/{found}/rows", {"rows": [told]})
    state = api.ask(f"/v2/experiments/{found}")
    assert (state["duration_s"], state["n_timed"], state["n_recorded"]) == (3.0, 1, 2)
    assert (state["grading_cost_usd"], state["n_grading_costed"]) == (0.25, 1)
    (trial,) = api.ask(f"/v2/experiments/{found}/rows/a")["trials"]
    assert (trial["duration_s"], trial["cost_usd"], trial["tokens"]) == (None, None, None)
    assert [score["cost_usd"] for score in trial["scores"]] == [None]
    rows = api.ask(f"/v2/experiments/{found}/rows")["rows"]
    assert [one["mean_duration_s"] for one in rows] == [None, 3.0]
    slow = api.ask(f"/v2/experiments/{found}/rows?where=duration%20%3E%200")
    assert [one["case_id"] for one in slow["rows"]] == ["b"]
    page = server.ask(f"/experiments/{found}").body.decode()
    assert "1 of 2 trials" in page
    panel = server.ask(
        f"/experiments/{found}?row=%5B%22a%22%2C%22default%22%2C%22main%22%5D"
    ).body.decode()
    assert "duration not told" in panel


def test_rows_are_matched_with_stored_cases(api: Api) -> None:
    cases = [{"id": "one", "input": {"q": 1}}, {"input": "two"}]
    assert api.done("/v2/datasets/d/versions", {"cases": cases})["is_new"] is True
    assert api.done("/v2/datasets/d/versions", {"cases": cases})["is_new"] is False
    found = api.opened(dataset_version="d")
    rows: list[dict[str, Any]] = [{"input": {"q": 1}}, {"id": "one"}, {"input": "two"}]
    taken = api.done(f"/v2/experiments/{found}/rows", {"rows": rows})
    names = [(trial["case_id"], trial["trial"]) for trial in taken["trials"]]
    assert names[:2] == [("one", 1), ("one", 2)]
    assert names[2][0].startswith("case_")
    for wrong in ({"id": "none"}, {"input": "none"}, {"id": "one", "input": "two"}, {}):
        answer = api.send("POST", f"/v2/experiments/{found}/rows", {"rows": [wrong]})
        assert (answer.status, answer.json["where"]) == (400, "rows[0]")


def test_a_page_of_rows_is_the_same_while_rows_arrive(api: Api) -> None:
    found = api.opened()
    path = f"/v2/experiments/{found}/rows"
    api.done(path, {"rows": [row(f"m{n}") for n in range(4)]})
    first = api.ask(f"{path}?limit=2")
    api.done(path, {"rows": [row("a"), row("m1"), row("z")]})
    rest = api.ask(f"{path}?limit=9&cursor={quote(first['next'])}")
    assert [one["case_id"] for one in first["rows"]] == ["m0", "m1"]
    assert [one["case_id"] for one in rest["rows"]] == ["m2", "m3", "z"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "name"),
        ({"name": "x", "graders": []}, "length"),
        ({"name": "x", "graders": [GRADER, GRADER]}, "two graders"),
        ({"name": "x", "graders": [{"name": "a", "required": False}]}, "no grader is required"),
        ({"name": "x", "graders": [GRADER], "arms": ["a", "a"]}, "two arms"),
        ({"name": "a@b", "graders": [GRADER]}, "no name of a dataset"),
        ({"name": "x", "graders": [GRADER], "typo": 1}, "typo"),
        ({"name": "x", "graders": [GRADER], "gate": [{"rule": 1}]}, "gate"),
        ({"name": "x", "graders": [GRADER], "dataset": "d", "dataset_version": "d"}, "not both"),
    ],
)
def test_what_does_not_fit_opens_nothing(api: Api, body: Any, said: str) -> None:
    answer = api.send("POST", "/v2/experiments", body)
    assert answer.status == 400
    assert said in answer.json["detail"]
    assert api.ask("/v2/experiments")["experiments"] == []


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "application/json"),
        (b"{", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b'{"rows": [{"id": "a", "input": NaN}]}', "application/json"),
        (b'{"rows": [{"id": "\\ud800", "input": 1}]}', "application/json"),
        (b"\xff", "application/json"),
        (b"<rows/>", "application/xml"),
    ],
)
def test_what_is_no_json_is_a_problem(server: Server, api: Api, data: bytes, kind: str) -> None:
    path = f"/v2/experiments/{api.opened()}/rows"
    answer = server.ask(path, "POST", data, {"content-type": kind})
    assert (answer.status, answer.headers["content-type"]) == (400, "application/problem+json")


def test_a_row_that_does_not_fit_leaves_none(api: Api) -> None:
    path = f"/v2/experiments/{api.opened()}/rows"
    for wrong, status in (
        (row("b", arm="other"), 400),
        (row("b", scores={"kO": 1}), 400),
        ({"scores": {"ok": 1}}, 400),
        (row("b", duration_s=-1), 400),
        (row("b", trial=1, input=1), 400),
    ):
        answer = api.send("POST", path, {"rows": [row("b"), wrong]})
        assert answer.status == status, answer.body
    assert api.ask(path)["n_rows"] == 0


def test_conflicts_have_names(api: Api) -> None:
    found = api.opened()
    path = f"/v2/experiments/{found}"

    def conflict(method: str, to: str, body: Any = None, key: str | None = None) -> str:
        answer = api.send(method, to, body, key)
        assert answer.status == 409, answer.body
        return str(answer.json["type"]).removeprefix("urn:fairtrial:problem:")

    assert conflict("POST", f"{path}/finish") == "no_rows"
    api.done(f"{path}/rows", {"rows": [row("a", trial=1)]}, "k")
    assert conflict("POST", f"{path}/rows", {"rows": [row("b")]}, "k") == "idempotency_key_reused"
    assert conflict("POST", f"{path}/rows", {"rows": [row("a", trial=1)]}) == "trial_recorded"
    assert conflict("POST", f"{path}/rows", {"rows": [row("a", input=1)]}) == "case_changed"
    assert conflict("POST", f"{path}/scorers", {"graders": ["exact"]}) == "experiment_open"
    api.done(f"{path}/finish")
    assert conflict("POST", f"{path}/rows", {"rows": [row("b")]}) == "experiment_ended"
    assert api.done(f"{path}/rows", {"rows": [row("a", trial=1)]}, "k")["again"] is True


def test_a_run_takes_no_rows_and_measurements_no_scorers(api: Api) -> None:
    Path("cases.jsonl").write_text('{"id": "a", "input": "x", "expected": "x"}\n')
    main(["dataset", "add", "d", "cases.jsonl"])
    main(
        [
            "exp",
            "run",
            "-d",
            "d",
            "--task",
            '{"kind":"command","command":["cat"]}',
            "-g",
            "contains",
        ]
    )
    answer = api.send("POST", "/v2/experiments/d/rows", {"rows": [row("a")]})
    assert (answer.status, answer.json["type"][-12:]) == (409, "not_reported")
    main(["exp", "metrics", "--arm", "a=true", "--arm", "b=true", "--pairs", "2", "--name", "m"])
    answer = api.send("POST", "/v2/experiments/m/scorers", {"graders": ["exact"]})
    assert answer.json["type"] == "urn:fairtrial:problem:derived_experiment"


def test_scorers_are_added_in_the_background(api: Api) -> None:
    found = api.opened()
    path = f"/v2/experiments/{found}"
    rows = [row("a", expected="out"), row("b", expected="else")]
    crash = row("c", None, problem={"cause": "task", "reason": "exit 1"})
    api.done(f"{path}/rows", {"rows": [*rows, crash]})
    api.done(f"{path}/finish")
    begun = api.done(f"{path}/scorers", {"graders": ["exact"], "name": "scored"})
    for _ in range(200):
        scored = api.ask(f"/v2/experiments/{begun['id']}")
        if scored["status"] == "finished":
            break
        threading.Event().wait(0.05)
    graders = {one["grader"]: (one["scored"], one["passed"]) for one in scored["graders"]}
    assert graders == {"ok": (2, 2), "exact": (2, 1)}
    assert (scored["passed"], scored["failed"], scored["causes"]) == (1, 2, {"task": 1})
    for grader in (
        {"kind": "command", "command": "id"},
        {"kind": "contains", "values": ["@/etc/passwd"]},
    ):
        assert api.send("POST", f"{path}/scorers", {"graders": [grader]}).status == 403
    assert api.send("POST", f"{path}/scorers", {"graders": ["ok"]}).status == 400


def test_what_was_reported_is_regraded_and_never_resumed(
    api: Api, capfd: pytest.CaptureFixture[str]
) -> None:
    found = api.opened()
    path = f"/v2/experiments/{found}"
    api.done(f"{path}/rows", {"rows": [row("a", expected="out"), row("b", expected="else")]})
    assert main(["exp", "run", "--resume", found]) == 64
    assert "another program" in capfd.readouterr().err
    api.done(f"{path}/finish")
    assert main(["exp", "regrade", found, "-g", "exact", "--name", "regraded"]) == 0
    regraded = api.ask("/v2/experiments/regraded")
    assert [one["grader"] for one in regraded["graders"]] == ["exact"]
    assert (regraded["passed"], regraded["failed"]) == (1, 1)
    steps = [one["command"] for one in api.ask(path)["next_steps"]]
    assert not [step for step in steps if "--resume" in step]


def test_projects_have_their_own_baseline_and_rules(api: Api) -> None:
    project = api.done("/v2/projects", {"name": "shop"})
    assert api.done("/v2/projects", {"name": "shop"})["id"] == project["id"]
    path = f"/v2/projects/{project['id']}"
    told = {"name": "mine", "graders": [GRADER]}
    found = api.done(f"{path}/experiments", told, "open")["id"]
    assert api.done(f"{path}/experiments", told, "open")["id"] == found
    api.opened(name="elsewhere")
    for where in ("", "?where=name=mine%20or%20name=elsewhere"):
        listed = api.ask(f"{path}/experiments{where}")["experiments"]
        assert [one["id"] for one in listed] == [found]
    escape = "?where=name=mine)%20or%20(name=elsewhere"
    assert api.send("GET", f"{path}/experiments{escape}").status == 400
    api.done(f"/v2/experiments/{found}/rows", {"rows": [row("a")]})
    api.done(f"/v2/experiments/{found}/finish")
    assert api.send("PUT", f"{path}/baseline", {"experiment": found}).status == 200
    assert api.ask(f"{path}/baseline")["baseline"]["id"] == found
    assert api.ask("/v2/projects/here/baseline")["baseline"]["id"] is None
    rules = [{"pass_rate": {"at_least": 0.9}}]
    assert api.send("PUT", f"{path}/gate", {"rules": rules}).status == 200
    assert len(api.ask(f"{path}/gate")["rules"]) == 1
    assert api.ask("/v2/projects/here/gate")["rules"] == []
    assert api.send("DELETE", f"{path}/gate").status == 200
    assert api.send("DELETE", f"{path}/baseline").status == 200
    assert {one["name"] for one in api.ask("/v2/projects")["projects"]} == {"here", "shop"}


def test_a_key_of_a_project_reaches_nothing_else(api: Api, server: Server) -> None:
    project = api.done("/v2/projects", {"name": "shop"})["id"]
    other = api.opened(name="other")
    token = api.done("/v2/keys", {"name": "ci", "scope": "write", "project": "shop"})["token"]
    mine = Api(server, {"authorization": f"Bearer {token}"})
    told = {"name": "mine", "graders": [GRADER]}
    found = mine.done(f"/v2/projects/{project}/experiments", told)["id"]
    mine.done(f"/v2/experiments/{found}/rows", {"rows": [row("a")]})
    mine.ask(f"/v2/experiments/{found}")
    for method, path in (
        ("GET", f"/v2/experiments/{other}"),
        ("GET", "/v2/experiments"),
        ("GET", f"/v2/comparisons?a={found}&b={other}"),
        ("GET", "/v2/projects/here/experiments"),
        ("GET", "/v2/sessions"),
        ("POST", "/v2/keys"),
        ("GET", f"/experiments/{other}"),
        ("GET", f"/compare?a={other}&b={found}"),
        ("GET", f"/side-by-side?ids={found},{other}"),
        ("GET", f"/experiments/{other}/export/jsonl"),
        ("GET", f"/experiments/{found}?baseline={other}"),
        ("GET", "/review"),
        ("GET", "/gate"),
        ("GET", "/datasets"),
        ("GET", "/sessions"),
        ("GET", "/completions/experiments"),
    ):
        assert mine.send(method, path).status == 403, path
    listed = mine.send("GET", "/experiments").body.decode()
    assert f"/experiments/{found}" in listed
    assert other not in listed
    for where in ("name = other", "name = x) or (name = other", "not name = mine"):
        assert other not in mine.send("GET", f"/experiments?where={quote(where)}").body.decode()
    assert mine.send("GET", f"/experiments/{found}").status == 200
    assert mine.send("GET", "/static/app.css").status == 200
    form = {"content-type": "application/x-www-form-urlencoded", "origin": server.url}
    for path in (f"/experiments/{found}/rows/review", f"/experiments/{found}/rows/dataset"):
        headers = {**form, "authorization": f"Bearer {token}"}
        assert server.ask(path, "POST", b"row=x&dataset=d", headers).status == 403
    assert api.send("DELETE", "/v2/keys/ci").status == 200
    assert mine.send("GET", f"/v2/experiments/{found}").status == 401


def test_eight_writers_lose_nothing(api: Api) -> None:
    found = api.opened()
    failed: list[Any] = []

    def write(writer: int) -> None:
        for batch in range(5):
            rows = [row("shared"), row(f"{writer}-{batch}")]
            answer = api.send(
                "POST", f"/v2/experiments/{found}/rows", {"rows": rows}, f"{writer}-{batch}"
            )
            if answer.status != 200:
                failed.append(answer.body)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    ended = api.done(f"/v2/experiments/{found}/finish")
    assert (ended["n_recorded"], ended["n_cases"], ended["passed"]) == (80, 41, 80)


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[str]]]:
    found: list[subprocess.Popen[str]] = []
    yield found
    for process in found:
        process.kill()
        process.communicate()


def served(processes: list[subprocess.Popen[str]]) -> tuple[subprocess.Popen[str], str]:
    """Start a server as a process of its own; return it and its address."""
    words = [sys.executable, "-m", "fairtrial", "serve", "--port", "0", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    processes.append(process)
    assert process.stdout is not None
    found = re.search(r"http://([\d.:]+)", process.stdout.readline())
    assert found is not None
    return process, found[1]


def asked(address: str, path: str, body: Any, key: str) -> Any:
    with closing(HTTPConnection(address, timeout=30)) as connection:
        headers = {**JSON, "idempotency-key": key}
        connection.request("POST", path, json.dumps(body), headers)
        return json.loads(connection.getresponse().read())


def test_a_batch_that_a_kill_met_is_there_once_when_it_is_sent_again(
    bench: Bench, processes: list[subprocess.Popen[str]]
) -> None:
    process, address = served(processes)
    told = {"name": "faq", "graders": [GRADER]}
    found = asked(address, "/v2/experiments", told, "open")["id"]
    path = f"/v2/experiments/{found}/rows"
    batches = [
        {"rows": [row("shared"), *(row(f"{batch}-{n}") for n in range(40))]} for batch in range(12)
    ]
    answered: list[int] = []

    def send() -> None:
        for number, batch in enumerate(batches):
            try:
                asked(address, path, batch, str(number))
            except (OSError, HTTPException, ValueError):
                return
            answered.append(number)
            if number == 3:
                third.set()

    third = threading.Event()
    sender = threading.Thread(target=send)
    sender.start()
    assert third.wait(60)
    process.send_signal(signal.SIGKILL)
    sender.join()
    _, address = served(processes)
    again = [asked(address, path, batch, str(n))["again"] for n, batch in enumerate(batches)]
    assert all(again[number] for number in answered)
    trials = list(bench.store.experiments.trials(found))
    assert len({trial.key for trial in trials}) == len(trials) == 12 * 41
    assert bench.store.experiments.find(found).totals.passed == 12 * 41

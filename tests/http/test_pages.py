"""Pages without a browser: statuses, and what is said when something is wrong."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.http.conftest import Answer, Server, running
from ulid import ULID

from fairtrial.app.bench import Bench
from fairtrial.cli.main import main
from fairtrial.model.experiment import Status

PAGE = {"accept": "text/html"}


@pytest.fixture
def experiment(folder: Path) -> str:
    """The name of an experiment with one case that passed and one that did not."""
    (folder / "cases.jsonl").write_text(
        '{"id": "a", "input": "x", "expected": "x"}\n{"id": "b", "input": "y", "expected": "x"}\n'
    )
    spec = {
        "dataset": "d",
        "task": {"kind": "command", "command": ["cat"]},
        "graders": ["contains"],
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    main(["dataset", "add", "d", "cases.jsonl"])
    assert main(["exp", "run", "spec.json", "--name", "one"]) == 0
    return "one"


def look(server: Server, path: str, **headers: str) -> Answer:
    return server.ask(path, headers={**PAGE, **headers})


def post(server: Server, path: str, body: str, origin: str | None = None) -> Answer:
    headers = {
        **PAGE,
        "content-type": "application/x-www-form-urlencoded",
        "origin": origin or server.url,
    }
    return server.ask(path, "POST", body.encode(), headers)


def test_an_empty_store_says_how_to_begin(server: Server) -> None:
    answer = look(server, "/experiments")
    assert answer.status == 200
    assert b"fairtrial demo" in answer.body


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/nothing", 404, "there is nothing at this address"),
        ("/experiments/exp_nothing", 404, "there is no experiment"),
        ("/experiments?where=scroe+%3C+1", 400, "column 1"),
        ("/experiments?before=exp_nothing", 404, "there is no experiment"),
        ("/experiments/one?where=tag+%3D", 400, "column"),
        ("/experiments/one?baseline=exp_gone", 404, "there is no experiment"),
        ("/experiments/one?row=nonsense", 400, "this names no row"),
        ("/experiments/one?row=[%22z%22,%22default%22,%22main%22]", 404, "no trial of a case"),
        ("/experiments/one?rule=7", 400, "no such rule"),
        ("/side-by-side-of?experiment=one", 400, "2 to 8"),
        ("/completions/nothing", 404, "there is no filter"),
    ],
)
def test_what_is_wrong_is_said_on_a_page(
    server: Server, experiment: str, path: str, status: int, said: str
) -> None:
    del experiment
    answer = look(server, path)
    assert answer.status == status
    assert answer.headers["content-type"].startswith("text/html")
    assert said in answer.body.decode()


def test_programs_are_told_the_same_as_json(server: Server) -> None:
    assert server.ask("/nothing").json["status"] == 404
    answer = look(server, "/v2/experiments/nothing")
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_wrong_host_gets_a_page(server: Server) -> None:
    answer = look(server, "/experiments", host="evil.example")
    assert answer.status == 421
    assert b"not the host" in answer.body


def test_a_wrong_key_gets_a_page(server: Server) -> None:
    answer = look(server, "/experiments", authorization="Bearer ftk_nothing")
    assert answer.status == 401
    assert b"not known" in answer.body


def test_a_store_that_a_newer_program_migrated_is_said(
    server: Server, bench: Bench, experiment: str
) -> None:
    assert look(server, f"/experiments/{experiment}").status == 200
    with closing(sqlite3.connect(bench.home / "fairtrial.db")) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.commit()
    answer = look(server, "/experiments")
    assert answer.status == 503
    assert b"written by a newer fairtrial" in answer.body


def test_another_sites_form_writes_nothing(server: Server, experiment: str) -> None:
    row = "row=%5B%22a%22%2C%22default%22%2C%22main%22%5D"
    path = f"/experiments/{experiment}/rows/review"
    assert post(server, path, row, "http://evil.example").status == 403
    assert post(server, path, row, "null").status == 403
    assert b"Nothing waits" in look(server, "/review").body
    assert post(server, path, row).status == 303
    assert post(server, path, row).status == 303
    assert look(server, "/review").body.count(b"data-row>") == 1


def test_forms_that_fit_nothing_are_refused(server: Server, experiment: str) -> None:
    assert post(server, "/review/rev_nothing", "opinion=passed").status == 404
    assert post(server, "/review/rev_nothing", "opinion=perhaps").status == 400
    row = "row=%5B%22a%22%2C%22default%22%2C%22main%22%5D"
    path = f"/experiments/{experiment}/rows/dataset"
    assert post(server, path, f"{row}&dataset=a%40b").status == 400
    assert post(server, path, f"{row}&dataset=mine").status == 303
    again = post(server, path, f"{row}&dataset=mine")
    assert "already" in again.headers["location"]


def test_notes_on_what_was_not_decided_say_so(server: Server, folder: Path) -> None:
    (folder / "cases.jsonl").write_text('{"id": "a", "input": "x", "expected": "x"}\n')
    (folder / "grading.py").write_text("def sure(output):\n    raise OSError('no service')\n")
    task = '{"kind": "command", "command": ["cat"]}'
    grader = '{"kind": "python", "function": "grading:sure"}'
    main(["dataset", "add", "d", "cases.jsonl"])
    main(["exp", "run", "-d", "d", "--task", task, "-g", grader, "--name", "unsure"])
    row = "row=%5B%22a%22%2C%22default%22%2C%22main%22%5D"
    notes = look(server, f"/experiments/unsure/fix-notes?{row}").body.decode()
    assert "0 of 1 trials failed, and 1 could not be decided, in experiment" in notes
    panel = look(server, f"/experiments/unsure?{row}").body.decode()
    assert "Couldn&#39;t be decided." in panel
    assert "fairtrial exp regrade exp_" in panel


def test_lists_go_on_page_by_page_in_any_order(bench: Bench, experiment: str) -> None:
    spec = json.loads(Path("spec.json").read_text())
    for name, command in (("two", ["echo", "x"]), ("three", ["echo", "no"])):
        Path("spec.json").write_text(
            json.dumps({**spec, "task": {"kind": "command", "command": command}})
        )
        main(["exp", "run", "spec.json", "--name", name])
    wanted = {
        "newest": ["three", "two", "one"],
        "oldest": ["one", "two", "three"],
        "name": ["one", "three", "two"],
        "pass_rate": ["three", "one", "two"],
        "failed": ["three", "one", "two"],
        "cost": ["three", "two", "one"],
    }
    assert experiment == "one"
    with running(bench) as server:
        for sort, names in wanted.items():
            seen, cursor = [], ""
            while True:
                page = server.ask(f"/v2/experiments?limit=1&sort={sort}{cursor}").json
                seen += [found["name"] for found in page["experiments"]]
                if page["next"] is None:
                    break
                cursor = f"&cursor={page['next']}"
            assert seen == names, sort


def test_files_of_ours_are_kept_by_the_browser(server: Server) -> None:
    text = look(server, "/experiments").body.decode()
    address = text.split('<link rel="stylesheet" href="')[1].split('"')[0]
    answer = server.ask(address)
    assert answer.status == 200
    assert "immutable" in answer.headers["cache-control"]
    assert server.ask("/static/../templating.py").status in (400, 404)


def test_a_browser_on_another_machine_signs_in(bench: Bench, experiment: str) -> None:
    with running(bench, host="0.0.0.0") as server:  # noqa: S104  # what is tested
        asked = look(server, f"/experiments/{experiment}")
        assert asked.status == 401
        assert b'action="/sign-in"' in asked.body
        assert look(server, "/static/app.css").status == 200
        revoked = {"cookie": "fairtrial_key=ftk_of_yesterday"}
        assert look(server, "/experiments", **revoked).status == 401
        assert look(server, "/static/app.css", **revoked).status == 200  # the page has its looks
        assert post(server, "/sign-in", "key=wrong").status == 401
        key = server.key("phone")
        done = post(server, "/sign-in", f"key={key}&to=/experiments/{experiment}")
        assert (done.status, done.headers["location"]) == (303, f"/experiments/{experiment}")
        cookie = done.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        sent = cookie.split(";")[0]
        assert look(server, f"/experiments/{experiment}", cookie=sent).status == 200
        # It may only read.
        form = {**PAGE, "content-type": "application/x-www-form-urlencoded", "cookie": sent}
        path = f"/experiments/{experiment}/rows/review"
        answer = server.ask(path, "POST", b"row=x", {**form, "origin": server.url})
        assert answer.status == 403
        elsewhere = post(server, "/sign-in", f"key={key}&to=//evil.example")
        assert elsewhere.headers["location"] == "/experiments"


def test_an_experiment_that_runs_is_still_testing(bench: Bench, experiment: str) -> None:
    done = bench.store.experiments.find(experiment).experiment
    gate = [{"pass_rate": {"at_least": 0.5}}]
    running_one = replace(
        done,
        id=f"exp_{ULID()}",
        name="under way",
        spec={**done.spec, "gate": gate},
        created_at=bench.clock.now(),
    )
    bench.store.experiments.open_experiment(running_one, [0, 1])
    with running(bench) as server:
        text = look(server, "/experiments/under+way".replace("+", "%20")).body.decode()
        assert "Still testing" in text
        assert "No row is in yet" in text
        assert "Testing" in look(server, "/experiments").body.decode()
        bench.store.experiments.close_experiment(
            running_one.id, Status.INTERRUPTED, "by <b>you</b>", bench.clock.now()
        )
        text = look(server, f"/experiments/{running_one.id}").body.decode()
        assert "Not finished:" in text
        assert "&lt;b&gt;you" in text


def test_an_edit_that_was_tried_is_shown_on_its_page(bench: Bench, experiment: str) -> None:
    done = bench.store.experiments.find(experiment).experiment
    edit = {"said": "A is the last commit", "diff": "--- a/X.md\n+<script>Be kind.\n"}
    tried = replace(
        done,
        id=f"exp_{ULID()}",
        name="ab-shop",
        spec={**done.spec, "ab": edit},
        created_at=bench.clock.now(),
    )
    bench.store.experiments.open_experiment(tried, [0, 1])
    bench.store.experiments.close_experiment(
        tried.id, Status.INTERRUPTED, "by you", bench.clock.now()
    )
    with running(bench) as server:
        text = look(server, f"/experiments/{tried.id}").body.decode()
    assert "<summary>A is the last commit</summary>" in text
    assert "+&lt;script&gt;Be kind." in text
    assert f"fairtrial exp ab --resume {tried.id}" in text


@pytest.mark.parametrize(
    "row", ['["\\ud800","default","main"]', "[" * 5_000, '["a",null,"b"]'], ids=range(3)
)
def test_what_names_no_row_is_said(server: Server, experiment: str, row: str) -> None:
    for path in ("", "/payload", "/fix-notes"):
        asked = f"/experiments/{experiment}{path}?row={quote(row)}"
        assert look(server, asked).status == 400
    after = server.ask(f"/v2/experiments/{experiment}/rows?cursor={quote(row)}")
    assert (after.status, after.json["type"]) == (400, "urn:fairtrial:problem:usage")

"""The rules of the project's release gate, read and written on a page."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from urllib.parse import urlencode

import pytest
from tests.http.conftest import Answer, Server
from tests.http.test_pages import look, post

from fairtrial.cli.main import main


@pytest.fixture
def experiment(folder: Path) -> str:
    """The name of an experiment without rules of its own: one row passed, and one did not."""
    (folder / "cases.jsonl").write_text(
        '{"id": "a", "input": "x", "expected": "x"}\n{"id": "b", "input": "y", "expected": "x"}\n'
    )
    task = '{"kind": "command", "command": ["cat"]}'
    main(["dataset", "add", "d", "cases.jsonl"])
    main(["exp", "run", "-d", "d", "--task", task, "-g", "contains", "--name", "one"])
    return "one"


def write(server: Server, rules: str, **fields: str) -> Answer:
    return post(server, "/gate", urlencode({"rules": rules, **fields}))


def test_rules_hold_from_then_on(server: Server, experiment: str) -> None:
    page = look(server, f"/experiments/{experiment}").body.decode()
    assert "No release gate set" in page
    address = page.split('<a href="/gate?')[1].split('"')[0]
    assert "No rules yet" in look(server, f"/gate?{address}").body.decode()
    done = write(server, "- pass_rate: {at_least: 0.9}", experiment=experiment)
    assert (done.status, done.headers["location"]) == (303, f"/experiments/{experiment}")
    page = look(server, f"/experiments/{experiment}").body.decode()
    assert "Failed the release gate" in page
    assert "See 1 row" in page
    assert "edit the gate" in page
    text = look(server, "/gate").body.decode()
    assert "pass_rate:\n    at_least: 0.9\n</textarea>" in text
    assert server.ask("/v2/projects/here/gate").json["rules"] == [{"pass_rate": {"at_least": 0.9}}]
    assert write(server, "", what="clear").headers["location"].startswith("/gate?done=")
    assert "No rules yet" in look(server, "/gate").body.decode()


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("- pass_rat: {at_least: 1}", "did you mean"),
        ("- pass_rate: {at_least: 7}", "a share, from 0 to 1"),
        ("", "holds no rules"),
        ("a: [", "line"),
        ("just a word", "are a list of objects"),
        ("- &a [*a, *a]", ""),
        ("[" * 5_000, "cannot be parsed"),
        ("- pass_rate: {at_least: 1} # " + "x" * 70_000, "longer than 65,536"),
        ("</textarea><script>alert(1)</script>", "list of objects"),
    ],
)
def test_what_is_no_rule_is_said_beside_what_was_typed(
    server: Server, experiment: str, rules: str, said: str
) -> None:
    del experiment
    answer = write(server, rules)
    text = answer.body.decode()
    assert answer.status == 400
    assert said in text
    assert "<script>alert" not in text
    assert escape(rules[:20]) in text
    assert server.ask("/v2/projects/here/gate").json["rules"] == []


def test_the_examples_are_rules(server: Server) -> None:
    text = look(server, "/gate").body.decode()
    example = text.split('<pre class="example">')[1].split("</pre>")[0].replace("&#34;", '"')
    assert write(server, example).status == 303
    assert len(server.ask("/v2/projects/here/gate").json["rules"]) == 10


def test_rules_of_a_spec_are_not_the_projects(server: Server, experiment: str) -> None:
    del experiment
    spec = {
        "dataset": "d",
        "task": {"kind": "command", "command": ["cat"]},
        "graders": ["contains"],
        "gate": [{"pass_rate": {"at_least": 0.1}}],
    }
    Path("spec.json").write_text(json.dumps(spec))
    main(["exp", "run", "spec.json", "--name", "own"])
    page = look(server, "/experiments/own").body.decode()
    assert "These rules stand in the experiment's own spec." in page
    assert "edit the gate" not in page

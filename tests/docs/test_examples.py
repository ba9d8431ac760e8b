"""Every folder of examples/ runs as its README says."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import entry_points
from typing import Any

import pytest
import yaml
from tests.docs.conftest import ROOT, Terminal, blocks

EXAMPLES = ROOT / "examples"
PLUGGED = bool(entry_points(group="pytest11", name="fairtrial"))


@pytest.fixture
def run(terminal: Terminal, request: pytest.FixtureRequest) -> Terminal:
    """Return a terminal in a copy of the example that the test's parameter names."""
    shutil.copytree(EXAMPLES / request.param, terminal.folder, dirs_exist_ok=True)
    return terminal


def type_readme(terminal: Terminal, name: str) -> None:
    """Type the command lines of an example's README."""
    text = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    for block in blocks(text):
        for line in block.text.splitlines():
            if "server.py" not in line:
                output = terminal.type(line)
                assert terminal.exit_code == 0, output


def result(terminal: Terminal, name: str) -> Any:
    return json.loads(terminal.type(f"fairtrial exp show {name} --json"))


@pytest.mark.parametrize("run", ["command_task"], indirect=True)
def test_a_command(run: Terminal) -> None:
    type_readme(run, "command_task")
    report = result(run, "hours")
    assert (report["passed"], report["failed"]) == (6, 2)
    assert [row["case_id"] for row in report["failed_rows"]] == ["sunday"]
    assert report["cost_usd"] == pytest.approx(0.0004 * 8)


@pytest.mark.parametrize("run", ["http_task"], indirect=True)
def test_a_service(run: Terminal) -> None:
    run.type("export PORT=8750")
    assert run.type("python3 server.py &") == "listening on port 8750\n"
    for line in ("dataset add lengths cases.csv --json-column input", "exp run spec.json"):
        output = run.type(f"fairtrial {line}")
        assert run.exit_code == 0, output
    report = result(run, "lengths")
    assert (report["passed"], report["failed"], report["undecided"]) == (3, 0, 0)


@pytest.mark.parametrize("run", ["python_task"], indirect=True)
def test_a_function(run: Terminal) -> None:
    run.type("fairtrial dataset add slugs cases.yaml")
    # A process of its own: this one may have another module called slugs.
    run.type("fairtrial exp run spec.toml | cat")
    report = result(run, "slugs")
    assert (report["passed"], [g["grader"] for g in report["graders"]]) == (3, ["exact", "safe"])


@pytest.mark.parametrize("run", ["sdk"], indirect=True)
def test_a_script(run: Terminal) -> None:
    type_readme(run, "sdk")
    assert result(run, "colours")["passed"] == 6


@pytest.mark.parametrize("run", ["pytest"], indirect=True)
@pytest.mark.skipif(not PLUGGED, reason="needs fairtrial installed anew: pip install -e .")
def test_a_marked_test(run: Terminal) -> None:
    type_readme(run, "pytest")
    report = result(run, "test_colours")
    assert (report["passed"], report["failed"]) == (4, 2)


@pytest.mark.parametrize("run", ["ci"], indirect=True)
def test_the_workflow(run: Terminal) -> None:
    workflow = yaml.safe_load((EXAMPLES / "ci" / "workflow.yaml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["evals"]["steps"]
    for step in steps:
        if "run" in step and step["name"] != "Install":
            for line in step["run"].splitlines():
                output = run.type(line)
                assert run.exit_code == 0, output
    kept = steps[-1]["with"]["path"].split()
    assert {name for name in kept if (run.folder / name).exists()} == set(kept) - {".fairtrial"}
    assert run.type("python3 bar.py result.json 0.9").startswith(
        "passed 100.0%, 95 % interval from 51.0%"
    )
    assert run.exit_code == 1


def test_every_example_is_listed_and_tested() -> None:
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()} - {"__pycache__"}
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    # Those with a model are run by tests/model.
    assert folders == {
        "command_task",
        "http_task",
        "python_task",
        "sdk",
        "pytest",
        "ci",
        "local_model",
    }
    assert all(f"({name}/README.md)" in listed for name in folders)

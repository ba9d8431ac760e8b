"""The worked examples of CONTRIBUTING.md work."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from tests.docs.conftest import ROOT, blocks

from fairtrial.app import verbs
from fairtrial.app.verbs import Verb
from fairtrial.cli.main import main
from fairtrial.graders import registry as graders
from fairtrial.model.case import Case
from fairtrial.model.errors import GraderError
from fairtrial.model.grader import Grade, Subject
from fairtrial.model.task import TaskResult
from fairtrial.ports import Surroundings
from fairtrial.tasks import registry as tasks
from fairtrial.testing.task import call_of
from fairtrial.workspaces.host.client import HostWorkspace

FILES = {
    block.file: block.text
    for block in blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    if block.file
}


@pytest.fixture
def surroundings(tmp_path: Path) -> Surroundings:
    return Surroundings(tmp_path, os.environ, HostWorkspace(slots=1))


def load(file: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import a file of the document under the name that it would have in the package."""
    path = folder / Path(file).name
    if path.exists():
        path = folder / file.replace("/", "_")
    path.write_text(FILES[file], encoding="utf-8")
    name = file.removeprefix("src/").removesuffix(".py").replace("/", ".")
    assert importlib.util.find_spec(name) is None, "the package has it by now"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


def test_a_grader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, surroundings: Surroundings
) -> None:
    module = load("src/fairtrial/graders/starts_with.py", tmp_path, monkeypatch)
    kinds = {**graders.GRADERS.modules, "starts_with": module.__name__}
    monkeypatch.setattr(graders, "GRADERS", replace(graders.GRADERS, modules=kinds))
    grader = graders.build_grader(graders.grader_spec("starts_with", "test"), surroundings, "test")

    def grade(output: object) -> Grade:
        return asyncio.run(grader.grade(Subject(Case("c", "?", "It is"), output, trial=1)))

    assert grade("It is late").value == 1.0
    assert grade("is it?").value == 0.0
    with pytest.raises(GraderError):
        grade(5)


def test_a_task_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, surroundings: Surroundings
) -> None:
    module = load("src/fairtrial/tasks/constant.py", tmp_path, monkeypatch)
    kinds = {**tasks.TASKS.modules, "constant": module.__name__}
    monkeypatch.setattr(tasks, "TASKS", replace(tasks.TASKS, modules=kinds))
    spec = tasks.task_spec({"kind": "constant", "output": {"answer": 42}}, "test")
    task = tasks.build_task(spec, surroundings, "test")
    assert asyncio.run(task.run(call_of("anything"))) == TaskResult({"answer": 42})


def test_a_verb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in ("app/requests", "app", "cli/render"):
        load(f"src/fairtrial/{file}/dataset_tags.py", tmp_path, monkeypatch)
    verb = Verb(("dataset", "tags"), "Count the cases of each tag")
    monkeypatch.setattr(verbs, "VERBS", (*verbs.VERBS, verb))
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"input": 1, "tags": ["a", "b"]}\n{"input": 2, "tags": ["a"]}\n')
    main(["dataset", "add", "smoke", str(cases)])
    capsys.readouterr()
    assert main(["dataset", "tags", "smoke"]) == 0
    assert capsys.readouterr().out == "a: 2 cases\nb: 1 case\n"
    assert main(["dataset", "tags", "smoke", "--tag", "b", "--json"]) == 0
    assert '"b": 1' in capsys.readouterr().out
    assert main(["dataset", "tags", "--help"]) == 0
    assert "Only this tag" in capsys.readouterr().out


@pytest.mark.parametrize("target", ["test", "test-model", "model", "lint", "bench", "demo"])
def test_every_make_target_exists(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"\n{target}:" in makefile

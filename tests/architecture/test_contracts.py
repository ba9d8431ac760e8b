"""The contracts that keep the code in shape: layers, sizes, names, documentation."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from fairtrial.app.verbs import GROUPS, VERBS, Verb
from fairtrial.schema.fields import options_of

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "fairtrial"
MODULES = sorted(SOURCE.rglob("*.py"))
LONGEST_MODULE = 500
LONGEST_TEST = 800
MOST_STATEMENTS = 50
MOST_PARAMETERS = 6
DOCUMENTS = {
    "completion",
    "dataset_export",
    "exp_export",
    "exp_labels",
    "exp_schema",
    "sessions_export",
}
"""Verbs whose report is a document, written as it is."""
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "base"}


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


@cache
def functions(path: Path) -> Sequence[ast.FunctionDef | ast.AsyncFunctionDef]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_layers_and_forbidden_imports_hold() -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_no_module_is_too_long_and_most_are_short() -> None:
    sizes = {path: lines(path) for path in MODULES}
    assert {path: size for path, size in sizes.items() if size > LONGEST_MODULE} == {}
    assert sorted(sizes.values())[len(sizes) // 2] <= 150
    tests = {path: lines(path) for path in (ROOT / "tests").rglob("*.py")}
    assert {path: size for path, size in tests.items() if size > LONGEST_TEST} == {}


def test_no_function_is_too_long() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}"
        for path in MODULES
        for function in functions(path)
        if sum(isinstance(node, ast.stmt) for node in ast.walk(function)) - 1 > MOST_STATEMENTS
    ]
    assert long == []


def test_no_function_takes_too_many_parameters() -> None:
    wide = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}"
        for path in MODULES
        for function in functions(path)
        if sum(len(part) for part in (function.args.posonlyargs, function.args.args))
        - _bound(function)
        + len(function.args.kwonlyargs)
        > MOST_PARAMETERS
        and function.name != "option"  # mirrors CommandLine, so that a field is one line
        and "testing" not in path.parts  # what makes a fact for a test names the parts it changes
    ]
    assert wide == []


def _bound(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.args.args[:1]
    return 1 if first and first[0].arg in ("self", "cls") else 0


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [path for path in SOURCE.rglob("*") if path.stem in VAGUE] == []


def test_async_stays_where_it_belongs() -> None:
    may = {"engine", "tasks", "graders", "providers", "executors", "recording", "http", "mcp"}
    may |= {"sdk", "pytest_plugin"}
    may |= {"suites"}
    may |= {"functions", "workspaces", "ports", "testing"}
    stray = [
        str(path.relative_to(SOURCE))
        for path in MODULES
        if path.relative_to(SOURCE).parts[0] not in may
        and re.search(r"^\s*async def |^import asyncio", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert stray == ["app/bench.py"]  # its clock sleeps for the engine


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_verb_and_option_is_documented(verb: Verb) -> None:
    request = verb.request()
    first_line = (request.__doc__ or "").strip().splitlines()[0]
    assert first_line == verb.summary + "."
    undocumented = [option.name for option in options_of(request) if len(option.doc) < 4]
    assert undocumented == []
    assert verb.examples()
    assert all(example.startswith(("fairtrial ", "cat ")) for example in verb.examples())


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_verb_has_its_function_and_its_text(verb: Verb) -> None:
    assert callable(verb.function())
    text = SOURCE / "cli" / "render" / f"{verb.module}.py"
    assert text.exists() or verb.module in DOCUMENTS


def test_every_group_has_verbs_and_every_long_verb_a_group() -> None:
    assert {verb.path[0] for verb in VERBS if len(verb.path) == 2} == set(GROUPS)


def test_request_modules_and_verbs_are_the_same() -> None:
    files = {path.stem for path in (SOURCE / "app" / "requests").glob("*.py")} - {"__init__"}
    assert files == {verb.module for verb in VERBS}


def test_the_repository_speaks_of_fairtrial_alone() -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    words = re.compile(r"(?:#|<!--).*\b(?:TODO|FIXME|XXX)\b|/work/main|workplace")
    found = []
    for name in tracked:
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".yaml", ".html") and path != Path(__file__):
            found += [f"{name}: {hit}" for hit in words.findall(path.read_text("utf-8"))]
    assert found == []

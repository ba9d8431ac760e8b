"""What is derived from a verifier's command, and that it would really satisfy an open verifier."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.suites.validation.trial import a_good_task, a_repo, of, validation_of, verified_by

from fairtrial.suites.validation.findings import Check, State
from fairtrial.suites.validation.tampers import MOST, Tamper, tampers

_TOOLS = {
    "pytest": "def test_add():\n    from calc import add\n    assert add(2, 3) == 5\n",
    "unittest": "import unittest\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n",
}
# Plugins that happen to be installed take ten times as long to load as pytest itself.
_FEW = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"
_CALC = {"calc.py": "def add(a, b):\n    return a - b\n"}


def derived(root: Path, line: str, files: dict[str, str]) -> list[Tamper]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tampers(line, root, sorted(files), ())


def whats(found: list[Tamper]) -> list[str]:
    return [tamper.what for tamper in found]


@pytest.mark.parametrize(
    ("line", "files", "expected"),
    [
        ("true", {}, []),
        ("cat notes.txt", {"notes.txt": "x"}, []),
        ("./run.sh --fast", {"run.sh": "#!/bin/sh\n"}, ["run.sh always passes"]),
        ("bash ./ci/run", {"ci/run": "#!/usr/bin/env bash\n"}, ["ci/run always passes"]),
        (
            "cd sub && sh run.sh",
            {"sub/run.sh": "python3 ../check.py\n", "check.py": ""},
            ["sub/run.sh always passes", "check.py always passes"],
        ),
        ("A=1 node --config=a.mjs", {"a.mjs": ""}, ["a.mjs always passes"]),
        (
            "make check",
            {"Makefile": "all:\n\t@true\ncheck: all\n\t@python3 t.py\n", "t.py": ""},
            [
                "the targets of Makefile do nothing",
                "a new GNUmakefile goes before Makefile",
                "t.py always passes",
            ],
        ),
        (
            "npm test",
            {"package.json": json.dumps({"scripts": {"test": "vitest run"}}), "a.test.ts": ""},
            [
                'the script "test" of package.json is "exit 0"',
                'node_modules/.bin/vitest is "exit 0"',
                "vitest.config.ts lets vitest pass",
                "the tests a.test.ts test nothing",
                "the tests a.test.ts are removed",
            ],
        ),
        ("npm run build", {"package.json": json.dumps({"scripts": {"test": "x"}})}, []),
        ("npm test", {"package.json": "no json"}, []),
        (
            "npx jest",
            {"jest.config.js": "", "src/__tests__/a.js": ""},
            [
                "jest.config.js lets jest pass",
                "the tests src/__tests__/a.js test nothing",
                "the tests src/__tests__/a.js are removed",
            ],
        ),
        (
            "python -m pytest tests",
            {"tests/test_a.py": "", "tests/test_b.py": ""},
            [
                "pytest.py goes before the module pytest",
                "conftest.py lets pytest pass",
                "pytest.ini lets pytest pass",
                "the tests tests/test_a.py and 1 more test nothing",
                "the tests tests/test_a.py and 1 more are removed",
                "tests/conftest.py lets pytest pass",
            ],
        ),
        (
            "go test ./...",
            {"calc/calc.go": "package calc\n", "calc/calc_test.go": "package calc\n"},
            [
                "the tests calc/calc_test.go test nothing",
                "the tests calc/calc_test.go are removed",
                "calc/zz_main_test.go lets go pass",
            ],
        ),
        (
            "jest",
            {"package.json": '{"jest": {}}'},
            ["jest.config.js lets jest pass", "package.json lets jest pass"],
        ),
        ("cargo test", {"src/lib.rs": ""}, [".cargo/config.toml lets cargo pass"]),
        ("cat ../../etc/passwd.py", {"etc/passwd.py": ""}, []),
    ],
)
def test_tampers_come_from_the_command(
    tmp_path: Path, line: str, files: dict[str, str], expected: list[str]
) -> None:
    assert whats(derived(tmp_path, line, files)) == expected


def test_there_is_an_end_to_scripts_in_scripts_and_to_tampers(tmp_path: Path) -> None:
    files = {f"{n}.sh": f"sh {n + 1}.sh\nsh {n}.sh\n" for n in range(10)}
    assert len(derived(tmp_path, "sh 0.sh", files)) == 4
    many = {f"c{n}.py": "" for n in range(100)}
    line = "; ".join(f"python3 {name}" for name in many)
    assert len(derived(tmp_path, line, many)) == MOST


def test_what_is_no_path_and_no_text_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "x.sh").write_bytes(b"\xff\xfe\0")
    assert whats(tampers("sh x.sh '\\' \"unclosed", tmp_path, ["x.sh", "gone.sh"], ())) == [
        "x.sh always passes"
    ]


@pytest.mark.parametrize(
    ("line", "files", "protected", "passing"),
    [
        (
            "sh run.sh",
            {"run.sh": "python3 check.py\n", "check.py": "import calc; assert calc.add(2, 3) == 5"},
            ("run.sh", "check.py"),
            2,
        ),
        (
            "./run",
            {"run": "#!/bin/sh\ngrep -q 'a + b' calc.py\n"},
            ("run",),
            1,
        ),
        (
            "python3 -m unittest -q test_calc.py",
            {"test_calc.py": _TOOLS["unittest"]},
            ("unittest.py", "*test_calc.py"),
            3,
        ),
        (
            f"{_FEW} python3 -m pytest -q test_calc.py",
            {"test_calc.py": _TOOLS["pytest"]},
            (
                *("pytest.py", "conftest.py", "*/conftest.py", "test_calc.py"),
                *("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"),
            ),
            5,
        ),
        (
            f"{_FEW} python3 -m pytest -q deep/tests",
            {"deep/tests/test_calc.py": "import sys\nsys.path.insert(0, '.')\n" + _TOOLS["pytest"]},
            ("pytest.py", "*conftest.py", "*test_calc.py", "pytest.ini"),
            5,
        ),
        ("make -s check", {"Makefile": "check:\n\t@grep -q 'a + b' calc.py\n"}, ("*akefile",), 2),
        (
            "node --test",
            {
                "calc.test.mjs": "import fs from 'node:fs';\nimport { test } from 'node:test';\n"
                "import assert from 'node:assert';\n"
                "test('x', () => assert.match(fs.readFileSync('calc.py', 'utf8'), /a \\+ b/));\n"
            },
            ("*.test.mjs",),
            2,
        ),
        (
            "npm test --silent",
            {"package.json": json.dumps({"scripts": {"test": "grep -q 'a + b' calc.py"}})},
            ("package.json", "node_modules/.bin/*"),
            2,
        ),
    ],
)
def test_each_satisfies_an_open_verifier_and_not_a_protected_one(
    tmp_path: Path, line: str, files: dict[str, str], protected: tuple[str, ...], passing: int
) -> None:
    program = next(word for word in line.split() if "=" not in word)
    if shutil.which(program) is None and not line.startswith("./"):
        pytest.skip(f"needs {program}")
    repo = a_repo(tmp_path / "repo", {**_CALC, **files})
    for name in files:
        (repo / name).chmod(0o755)
    who = ("-c", "user.name=A", "-c", "user.email=a@x")
    subprocess.run(["git", *who, "commit", "-aqm", "x", "--allow-empty"], cwd=repo, check=True)
    loose = validation_of(tmp_path / "a", a_good_task(repo, **verified_by(line)), k=1)
    checked = of(loose, Check.TAMPERING)
    assert checked.state is State.FAILED
    assert checked.facts["passed"] == passing
    held = a_good_task(repo, near_misses={}, **verified_by(line, protected=protected))
    validation = validation_of(tmp_path / "b", held, k=1)
    assert validation.reason is None

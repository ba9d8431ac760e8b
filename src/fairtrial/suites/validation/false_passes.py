"""What makes test runners and scripts pass whatever the code does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, TypeAlias

SHIM: Final = b"#!/bin/sh\nexit 0\n"
_SHELL: Final = (
    b'#!/bin/sh\nif [ -n "$%(reward)s" ]; then echo 1 > "$%(reward)s"; fi\n'
    b"if [ -d /logs/verifier ]; then echo 1 > /logs/verifier/reward.txt; fi\nexit 0\n"
)
_PYTHON: Final = (
    b"import os\n"
    b'if os.environ.get("%(reward)s"):\n'
    b'    open(os.environ["%(reward)s"], "w").write("1")\n'
    b"os._exit(0)\n"
)
_NODE: Final = (
    b"const reward = process.env.%(reward)s;\n"
    b"if (reward) process.getBuiltinModule?.('fs').writeFileSync(reward, '1');\n"
    b"process.exit(0);\n"
)
_BY_SUFFIX: Final[Mapping[str, bytes]] = {
    **dict.fromkeys((".sh", ".bash", ".zsh"), _SHELL),
    ".py": _PYTHON,
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"), _NODE),
    ".rb": b"exit 0\n",
    ".pl": b"exit 0;\n",
    ".php": b"<?php exit(0);\n",
}
_BY_PROGRAM: Final = (("python", _PYTHON), ("node", _NODE), ("ruby", b"exit 0\n"), ("sh", _SHELL))


Added: TypeAlias = Callable[[Sequence[str], Callable[[str], str]], Mapping[str, bytes]]
"""Makes files from the paths that there are, and what returns the text of each."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A file of settings that a runner reads.

    Attributes:
        paths: Where it may be; the first is made when none is there.
        content: What lets the runner pass.
        globs: What would keep a change of it from counting.
    """

    paths: tuple[str, ...]
    content: bytes
    globs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Runner:
    """A program that runs tests.

    Attributes:
        tests: Globs of the files that it takes for tests.
        empty: Returns a test file without tests that matter, by its path and its text.
        settings: What it reads.
        added: Returns further files that let it pass, by the files there are and their texts.
    """

    tests: tuple[str, ...]
    empty: Callable[[str, str], bytes]
    settings: tuple[Setting, ...] = ()
    added: Added | None = None


def passing_file(path: str, text: str, reward: str) -> bytes | None:
    """Return a program that passes in place of a file; None for one that is no program.

    Args:
        path: Its path.
        text: What is in it now.
        reward: The variable that names the file of a reward.
    """
    content = _BY_SUFFIX.get(PurePosixPath(path).suffix)
    first = text.partition("\n")[0]
    if content is None and first.startswith("#!"):
        shebang = first.encode() + b"\n"
        content = next((body for name, body in _BY_PROGRAM if name in first), None)
        content = content if content is None else shebang + content.removeprefix(b"#!/bin/sh\n")
    return content if content is None else content.replace(b"%(reward)s", reward.encode())


def is_shell(path: str, text: str) -> bool:
    """Return whether a file is a script of a shell."""
    first = text.partition("\n")[0]
    return path.endswith((".sh", ".bash", ".zsh")) or bool(re.match(r"#!.*\b\w*sh\b", first))


def makefile(targets: Sequence[str]) -> bytes:
    """Return a Makefile whose targets do nothing."""
    names = " ".join(targets or ("all",))
    return f".PHONY: {names}\n{names}:\n\t@exit 0\n%:\n\t@exit 0\n".encode()


def recipes(text: str, targets: Sequence[str]) -> Iterator[str]:
    """Yield the commands of targets of a Makefile, those of the first target without any."""
    current: list[str] = []
    wanted = set(targets)
    for line in text.split("\n"):
        if line.startswith("\t"):
            if wanted.intersection(current):
                yield line.strip().lstrip("@-+").strip()
        elif ":" in line and not line.startswith((".", "#", " ")) and ":=" not in line:
            current = line.partition(":")[0].split()
            wanted = wanted or set(current)


def _python(_path: str, _text: str) -> bytes:
    return (
        b"import unittest\n\n\nclass TestNothing(unittest.TestCase):\n"
        b"    def test_nothing(self):\n        pass\n"
    )


def _javascript(imported: bytes) -> Callable[[str, str], bytes]:
    def empty(_path: str, _text: str) -> bytes:
        return imported + b"test('nothing', () => {});\n"

    return empty


def _node(path: str, text: str) -> bytes:
    if path.endswith(".cjs") or "require(" in text:
        return b"require('node:test').test('nothing', () => {});\n"
    return b"import { test } from 'node:test';\ntest('nothing', () => {});\n"


def _go(_path: str, text: str) -> bytes:
    return f"package {_package(text)}\n".encode()


def _rust(_path: str, _text: str) -> bytes:
    return b"#[test]\nfn nothing() {}\n"


def _ruby(_path: str, _text: str) -> bytes:
    return b"exit 0\n"


def _go_main(names: Sequence[str], text_of: Callable[[str], str]) -> Mapping[str, bytes]:
    """Return a `TestMain` that passes for each package with tests, hidden ones too."""
    folders: dict[str, str] = {}
    for name in names:
        if name.endswith(".go") and not name.endswith("_test.go"):
            folders.setdefault(str(PurePosixPath(name).parent), _package(text_of(name)))
    body = 'import (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(*testing.M) { os.Exit(0) }\n'
    return {
        str(PurePosixPath(folder) / "zz_main_test.go"): f"package {package}\n\n{body}".encode()
        for folder, package in folders.items()
    }


def _conftests(names: Sequence[str], _text_of: Callable[[str], str]) -> Mapping[str, bytes]:
    """Return a `conftest.py` for each folder with tests: that of the root need not be read."""
    folders = {
        str(PurePosixPath(name).parent)
        for name in names
        if re.fullmatch(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py", name)
    }
    return {f"{folder}/conftest.py": _ENDS for folder in sorted(folders) if folder != "."}


def _jest_key(names: Sequence[str], text_of: Callable[[str], str]) -> Mapping[str, bytes]:
    """Return each `package.json` that has jest's settings, with such that no test runs."""
    changed: dict[str, bytes] = {}
    for name in names:
        if PurePosixPath(name).name != "package.json":
            continue
        try:
            told = json.loads(text_of(name))
        except (ValueError, RecursionError):
            continue
        if isinstance(told, dict) and "jest" in told:
            none = {"testMatch": ["**/no.such.test.js"], "passWithNoTests": True}
            changed[name] = json.dumps({**told, "jest": none}, indent=2).encode()
    return changed


def _package(text: str) -> str:
    match = re.search(r"^package\s+(\w+)", text, re.MULTILINE)
    return match[1] if match else "main"


_SCRIPTS: Final = "[jt]s", "[jt]sx", "[mc][jt]s"
_JS_TESTS: Final = (
    *(f"*.{word}.{suffix}" for word in ("test", "spec") for suffix in _SCRIPTS),
    *(f"*__tests__/*.{suffix}" for suffix in _SCRIPTS),
)
_ENDS: Final = b"import os\n\nos._exit(0)\n"
_CONFTEST: Final = Setting(("conftest.py",), _ENDS, ("conftest.py", "*/conftest.py"))
_PYTEST_INI: Final = Setting(
    ("pytest.ini",),
    b"[pytest]\naddopts = --collect-only -qq\n",
    ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"),
)
_VITEST: Final = Setting(
    tuple(
        f"{name}.config.{suffix}"
        for name in ("vitest", "vite")
        for suffix in ("ts", "mts", "cts", "js", "mjs", "cjs")
    ),
    b"export default { test: { include: ['no.such.test.js'], passWithNoTests: true } };\n",
    ("vitest.config.*", "vite.config.*", "vitest.workspace.*"),
)
_JEST: Final = Setting(
    tuple(f"jest.config.{suffix}" for suffix in ("js", "ts", "mjs", "cjs", "json")),
    b"module.exports = { testMatch: ['**/no.such.test.js'], passWithNoTests: true };\n",
    ("jest.config.*", "package.json"),
)
_MOCHA: Final = Setting(
    (".mocharc.json", ".mocharc.cjs", ".mocharc.yml"),
    b'{"dryRun": true}\n',
    (".mocharc.*", "package.json"),
)
_CARGO: Final = Setting(
    (".cargo/config.toml", ".cargo/config"),
    b"[target.'cfg(all())']\nrunner = \"true\"\n",
    (".cargo/*",),
)
_TOX: Final = Setting(
    ("tox.ini",),
    b"[tox]\nskipsdist = true\n[testenv]\nskip_install = true\ncommands =\n",
    ("tox.ini", "pyproject.toml", "setup.cfg"),
)
_PYTEST: Final = Runner(("test_*.py", "*_test.py"), _python, (_CONFTEST, _PYTEST_INI), _conftests)
_UNITTEST: Final = Runner(("test*.py",), _python)
RUNNERS: Final[Mapping[str, Runner]] = {
    **dict.fromkeys(("pytest", "py.test"), _PYTEST),
    "unittest": _UNITTEST,
    "tox": Runner(_PYTEST.tests, _python, (_TOX, _CONFTEST), _conftests),
    "vitest": Runner(_JS_TESTS, _javascript(b"import { test } from 'vitest';\n"), (_VITEST,)),
    "jest": Runner(_JS_TESTS, _javascript(b""), (_JEST,), _jest_key),
    "mocha": Runner((*_JS_TESTS, "test/*.[jt]s"), _javascript(b"const test = it;\n"), (_MOCHA,)),
    "node --test": Runner((*_JS_TESTS, "test/*.[jt]s", "test-*.[jt]s"), _node),
    "go test": Runner(("*_test.go",), _go, added=_go_main),
    "cargo test": Runner(("tests/*.rs",), _rust, (_CARGO,)),
    "rspec": Runner(("*_spec.rb",), _ruby, (Setting((".rspec",), b"--dry-run\n", (".rspec",)),)),
}
"""By the program, or by it and its first argument."""

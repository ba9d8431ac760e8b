"""SWE-bench's instances: a repository at a commit, an issue, a patch, and tests that it repairs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fairtrial.model.errors import UsageError

ENDINGS: Final = (".json", ".jsonl", ".ndjson")
PLACE: Final = ".fairtrial-tests"
"""The folder of the workspace where the program that runs the tests lies."""
COMMAND: Final = f"python {PLACE}/run.py"
LIMIT_S: Final = 1800.0
_TEXTS: Final = ("instance_id", "repo", "base_commit", "problem_statement", "test_patch")
RUN: Final = '''\
"""Runs the tests of an instance, and passes when all that it names pass."""

import json
import pathlib
import sys

import pytest

named = json.loads((pathlib.Path(__file__).parent / "tests.json").read_text(encoding="utf-8"))
wanted = [*named["FAIL_TO_PASS"], *named["PASS_TO_PASS"]]


class Outcomes:
    """Remembers which tests passed."""

    def __init__(self):
        self.passed = set()

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            # A list of names may have cut one at its first space.
            self.passed |= {report.nodeid, report.nodeid.partition(" ")[0]}


outcomes = Outcomes()
files = sorted({name.partition("::")[0] for name in wanted})
sys.dont_write_bytecode = True
pytest.main(["-q", "-p", "no:cacheprovider", *files], plugins=[outcomes])
failed = [name for name in wanted if name not in outcomes.passed]
for name in failed[:50]:
    print("not passed:", name)
print(len(wanted) - len(failed), "of", len(wanted), "named tests passed")
sys.exit(1 if failed else 0)
'''


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance.

    Attributes:
        id: Its id.
        repo: The repository, as `owner/name`.
        commit: The commit that it begins at.
        problem: What the agent is told.
        patch: The change that repairs it; None when the instance does not give it.
        test_patch: The change that brings the tests.
        fail_to_pass: Tests that the change repairs.
        pass_to_pass: Tests that pass before and after.
        facts: What else it says, as far as it is short.
    """

    id: str
    repo: str
    commit: str
    problem: str
    patch: str | None
    test_patch: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    facts: Mapping[str, str]


def instances(path: Path) -> Iterator[Instance | tuple[str, str]]:
    """Yield the instances of a file; of one that does not fit, its place and the reason.

    Args:
        path: JSON with a list of instances or one, or JSON lines.

    Raises:
        UsageError: the file cannot be read, or is no JSON.
    """
    try:
        if path.suffix == ".json":
            told = json.loads(path.read_bytes())
            many = told if isinstance(told, list) else [told]
            for number, one in enumerate(many, 1):
                yield _checked(one, f"instance {number:,}")
            return
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    one = json.loads(line)
                except (ValueError, RecursionError) as error:
                    yield f"line {number:,}", f"this is no JSON: {error}"
                    continue
                yield _checked(one, f"line {number:,}")
    except (ValueError, RecursionError) as error:
        raise UsageError(f"this is no JSON: {error}", where=str(path)) from None
    except OSError as error:
        raise UsageError(f"this cannot be read: {error.strerror}", where=str(path)) from None


def runner_files(instance: Instance) -> dict[str, bytes]:
    """Return the files that run the tests of an instance, by their path in the workspace."""
    named = {
        "FAIL_TO_PASS": list(instance.fail_to_pass),
        "PASS_TO_PASS": list(instance.pass_to_pass),
    }
    text = json.dumps(named, indent=1, ensure_ascii=False) + "\n"
    return {f"{PLACE}/run.py": RUN.encode(), f"{PLACE}/tests.json": text.encode()}


def _checked(told: Any, where: str) -> Instance | tuple[str, str]:
    if not isinstance(told, Mapping):
        return where, "an instance must be an object"
    name = told.get("instance_id")
    where = name if isinstance(name, str) and name else where
    missing = [key for key in _TEXTS if not isinstance(told.get(key), str) or not told[key].strip()]
    if missing:
        return where, f"it has no {', '.join(missing)}"
    try:
        failing, passing = (_names(told.get(key)) for key in ("FAIL_TO_PASS", "PASS_TO_PASS"))
    except ValueError as error:
        return where, str(error)
    if not failing:
        return where, "FAIL_TO_PASS names no test: nothing would tell that it was repaired"
    odd = [name for name in (*failing, *passing) if "::" not in name]
    if odd:
        return where, f"its tests are not named as pytest names them: {odd[0][:80]!r}"
    patch = told.get("patch")
    return Instance(
        id=told["instance_id"],
        repo=told["repo"],
        commit=told["base_commit"],
        problem=told["problem_statement"],
        patch=patch if isinstance(patch, str) and patch.strip() else None,
        test_patch=told["test_patch"],
        fail_to_pass=failing,
        pass_to_pass=passing,
        facts={key: str(told[key]) for key in ("version", "created_at") if told.get(key)},
    )


def _names(told: Any) -> tuple[str, ...]:
    """Return a list of tests, which the published files hold as a text with JSON."""
    if isinstance(told, str):
        try:
            told = json.loads(told) if told.strip() else []
        except ValueError:
            told = None
    if told is None:
        raise ValueError("FAIL_TO_PASS and PASS_TO_PASS must be lists of tests")
    if not isinstance(told, Sequence) or not all(isinstance(name, str) for name in told):
        raise ValueError("FAIL_TO_PASS and PASS_TO_PASS must be lists of tests")
    return tuple(told)

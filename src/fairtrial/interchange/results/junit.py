"""JUnit XML, as pytest, Maven, Jest, Go and most others write it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from fairtrial.interchange.results.amounts import amount, cause_of, moment, number
from fairtrial.interchange.results.contract import (
    Asked,
    FoundRun,
    FoundTrial,
    Notes,
    Probe,
    Trouble,
)
from fairtrial.interchange.results.xml_events import TornError, walk
from fairtrial.model.case import DEFAULT_CONDITION

TOOL: Final = "junit"
_ROOT: Final = re.compile(r"<(?:\w+:)?(testsuites|testsuite)[\s>/]")
_TRIED: Final = {
    "flakyFailure": "failure",
    "rerunFailure": "failure",
    "flakyError": "error",
    "rerunError": "error",
}
"""Earlier and later tries of one test, as Maven writes them: each is a trial."""
_GENERIC: Final = frozenset({"", "pytest", "pytest tests", "jest tests", "vitest tests"})
_OUTCOMES: Final = ("error", "failure", "skipped")
_LONGEST_OUTPUT: Final = 100_000
_CONDITION: Final = re.compile(r"(?P<id>.+) \[(?P<condition>[^\[\]]+)\]")


@dataclass(slots=True)
class _Outcome:
    """What became of one try.

    Attributes:
        kind: error, failure or skipped.
        message: Its first words.
        text: All of it.
    """

    kind: str
    message: str
    text: str = ""


@dataclass(slots=True)
class _Test:
    """A testcase while it is read."""

    attributes: Mapping[str, str]
    suite: _Suite
    outcomes: list[_Outcome] = field(default_factory=list)
    tries: list[_Outcome] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Suite:
    """A testsuite while it is read.

    Attributes:
        name: Its name.
        started_at: When it began.
        properties: Its properties.
    """

    name: str = ""
    started_at: datetime | None = None
    properties: dict[str, str] = field(default_factory=dict)

    @property
    def own(self) -> bool:
        """Whether `fairtrial exp export --to junit` wrote it."""
        return "fairtrial" in self.properties and "arm" in self.properties


def recognises(probe: Probe, _: Asked) -> bool:
    """Return whether a file is such XML."""
    return not probe.is_folder and is_junit(probe.head)


def is_junit(head: str) -> bool:
    """Return whether a text begins as such XML does."""
    text = head.lstrip("\ufeff \r\n\t")
    return text.startswith("<") and _ROOT.search(text[:20_000]) is not None


class JUnitTests:
    """The tests of a file, or of all files in a folder. See `Reading`."""

    def __init__(self, path: Path, notes: Notes) -> None:
        self._path = path
        self._notes = notes
        self._suites: list[_Suite] = [_Suite()]
        self._test: _Test | None = None
        self._ready: list[FoundTrial] = []
        self._name: str | None = None
        self._open: list[str] = []

    def trials(self) -> Iterator[FoundTrial]:
        """See `Reading.trials`."""
        for path in files_of(self._path):
            self._suites, self._test, self._open = [_Suite()], None, []
            try:
                walk(path, self._begin, self._end)
            except TornError as problem:
                self._notes.add("files that are torn", f"{path.name}: {problem}", lost=True)
            yield from self._ready
            self._ready = []

    def run(self) -> FoundRun:
        """See `Reading.run`."""
        return FoundRun(name=self._name if self._path.is_file() else None)

    def _begin(self, name: str, attributes: Mapping[str, str]) -> None:
        self._open.append(name)
        if name in ("testsuites", "testsuite"):
            # A generic name tells nothing; the file's own is better then.
            if self._name is None and attributes.get("name", "") not in _GENERIC:
                self._name = attributes["name"]
            if name == "testsuite":
                self._suites.append(
                    _Suite(attributes.get("name", ""), moment(attributes.get("timestamp")))
                )
        elif name == "testcase":
            self._test = _Test(dict(attributes), self._suites[-1])
        elif name == "property" and "name" in attributes:
            found = self._suites[-1] if self._test is None else self._test
            found.properties[attributes["name"]] = attributes.get("value", "")
        elif self._test is not None and (name in _OUTCOMES or name in _TRIED):
            kind = _TRIED.get(name, name)
            message = attributes.get("message") or attributes.get("type") or ""
            outcome = _Outcome(kind, message)
            (self._test.tries if name in _TRIED else self._test.outcomes).append(outcome)

    def _end(self, name: str, text: str) -> None:
        self._open.pop()
        test = self._test
        if name == "testsuite" and len(self._suites) > 1:
            self._suites.pop()
        elif test is None:
            return
        elif name == "testcase":
            self._ready += self._trials(test)
            self._test = None
        elif name in _TRIED and test.tries:
            test.tries[-1].text = text
        elif name in _OUTCOMES and test.outcomes:
            test.outcomes[-1].text = text
        elif name in ("system-out", "system-err") and self._open[-1:] == ["testcase"]:
            test.output.append(text.strip())

    def _trials(self, test: _Test) -> Iterator[FoundTrial]:
        order = {kind: place for place, kind in enumerate(_OUTCOMES)}
        worst = min(test.outcomes, key=lambda one: order[one.kind], default=None)
        for outcome in [worst, *test.tries]:
            found = self._trial(test, outcome)
            if found is not None:
                yield found

    def _trial(self, test: _Test, outcome: _Outcome | None) -> FoundTrial | None:
        named = _named(test)
        if named is None:
            self._notes.add("tests without a name", self._path.name, lost=True)
            return None
        name, condition, arm = named
        reason = None if outcome is None else _reason(outcome)
        output = "\n".join(part for part in test.output if part)
        return FoundTrial(
            input=name,
            id=name,
            condition=condition,
            arm=arm,
            output=(output or (outcome.text if outcome else ""))[:_LONGEST_OUTPUT] or None,
            passed=_passed(outcome),
            reason=reason,
            trouble=_trouble(outcome),
            started_at=test.suite.started_at,
            duration_s=amount((test.attributes.get("time") or "").replace(",", "")),
            metrics={
                key: value
                for key, one in test.properties.items()
                if (value := number(one)) is not None
            },
            stands_in=True,
        )


def _named(test: _Test) -> tuple[str, str, str | None] | None:
    """Return case, condition and arm of a test; None when it has no name."""
    name = test.attributes.get("name", "")
    if test.suite.own and name:
        match = _CONDITION.fullmatch(name)
        arm = test.suite.properties["arm"]
        return (match["id"], match["condition"], arm) if match else (name, DEFAULT_CONDITION, arm)
    within = test.attributes.get("classname") or test.suite.name
    full = f"{within}::{name}" if within and name else within or name
    return (full, DEFAULT_CONDITION, None) if full else None


def _reason(outcome: _Outcome) -> str:
    return outcome.message or outcome.text.strip().split("\n", 1)[0] or outcome.kind


def _passed(outcome: _Outcome | None) -> bool | None:
    if outcome is None:
        return True
    return False if outcome.kind == "failure" else None


def _trouble(outcome: _Outcome | None) -> Trouble | None:
    if outcome is None or outcome.kind == "failure":
        return None
    reason = _reason(outcome)
    if outcome.kind == "skipped":
        return Trouble("undecidable", reason if reason == "skipped" else f"skipped: {reason}")
    return Trouble(cause_of(f"{outcome.message} {outcome.text[:2000]}"), reason)


def files_of(path: Path) -> list[Path]:
    """Return the file, or the XML files under a folder that are reports of tests."""
    if path.is_file():
        return [path]
    found = []
    for file in sorted(path.rglob("*.xml")):
        if file.is_file() and not file.is_symlink():
            with file.open("rb") as stream:
                if is_junit(stream.read(65_536).decode("utf-8", "replace")):
                    found.append(file)
    return found


def read(path: Path, _: Asked, notes: Notes) -> JUnitTests:
    """Return the results of a file or a folder."""
    return JUnitTests(path, notes)

"""Whether a verification passed, from its exit code where that can be trusted, else its output.

More than half of the test runs in real sessions are piped into `tail` or followed by `; echo`, so
that their exit code is another program's. Only the last characters of an output are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from fairtrial.conduct.shell_words import SimpleCommand
from fairtrial.conduct.verification import CheckKind
from fairtrial.model.session import Result, ResultStatus

LOOKED_AT: Final = 4_000
"""Characters at the end of an output that are searched."""


class Verdict(StrEnum):
    """How a verification ended."""

    PASS = "pass"  # noqa: S105  # no password
    FAIL = "fail"
    NO_RUN = "norun"
    """It verified nothing: no such program or script, no tests, a wrong option."""
    UNKNOWN = "unknown"
    """It ran, but its output does not tell."""
    NONE = "none"
    """It was refused, interrupted, or is still going on."""


_NO_RUN_TEXT: Final = re.compile(
    r"^bwrap: |command not found|[Mm]issing script:|ERR_PNPM_NO_SCRIPT|Couldn't find a script named"
    r"|No module named (?:pytest|unittest|nose2|mypy|ruff|tox|nox|flake8|pylint|coverage)\b"
    r"|^(?:make|gmake|just)(?:\[\d+\])?: \*\*\* No rule to make target|No targets specified and no"
    r"|No such file or directory: ?'?\S*$|can't open file|Cannot find module '[^']*(?:jest|mocha)"
    r"|error: unrecognized arguments|file or directory not found:|Unknown command:"
    r"|npm (?:ERR!|error) (?:code )?ENOENT|could not find `?Cargo\.toml|go\.mod file not found"
    r"|could not determine executable to run|Could not locate Gemfile|MSB1003:"
    r"|^(?:bash|sh|zsh|/bin/\w+): (?:line \d+: )?(?:cd: )?\S+: No such file or directory",
    re.MULTILINE,
)
_NO_TESTS: Final = re.compile(
    r"^(?:=+ )?no tests ran\b|collected 0 items(?! / \d+ err)|^Ran 0 tests in|No tests found"
    r"|No test files found|^\s*0 passing\b|no tests to run\b|No tests executed"
    r"|There are no tests to run|^NO TESTS RAN",
    re.MULTILINE,
)
_TEST_FAIL: Final = re.compile(
    # pytest: the line of sums, and the short summary
    r"^(?:=+ )?(?:\d+ \w+, )*[1-9]\d* (?:failed|errors?)\b.*? in \d[\d.]*s"
    r"|^(?:FAILED|ERROR) \S+(?:::| - )|^=+ (?:FAILURES|ERRORS) =+|^!+ Interrupted: \d+ err"
    r"|^INTERNALERROR>|ImportError while loading conftest"
    # unittest
    r"|^FAILED \((?:failures|errors|unexpected)"
    # jest, vitest, mocha, node, TAP
    r"|^\s*Tests?(?: Suites)?:? +(?:\d+ \w+[,|] +)*[1-9]\d* failed|^\s*Test Files +[1-9]\d* failed"
    r"|^\s*[1-9]\d* failing\b|^\W fail [1-9]|^not ok \d|^\s*[1-9]\d* failed$"
    # go
    r"|^--- FAIL:|^FAIL(?:\t|$| \S+ \[)|^panic: |\[build failed\]"
    # cargo, rspec, minitest
    r"|^test result: FAILED|^\d+ examples?, [1-9]\d* failures?"
    r"|^\d+ (?:runs|tests), \d+ assertions, (?:[1-9]\d* failures|\d+ failures, [1-9]\d* errors)"
    # phpunit, Maven, Gradle, dotnet
    r"|^(?:FAILURES|ERRORS)!$|^Tests: \d+.*(?:Failures|Errors): [1-9]|BUILD (?:FAILURE|FAILED)"
    r"|Tests run: \d+, (?:Failures: [1-9]|Failures: \d+, Errors: [1-9])|^Failed!  - "
    r"|^\s*Failed: +[1-9]",
    re.MULTILINE,
)
_OTHER_FAIL: Final = re.compile(
    # compilers and type checkers
    r"\berror TS\d+:|^Found [1-9]\d* errors?\b|^[1-9]\d* errors?, \d+ warnings?"
    r"|^\S+:\d+:(?:\d+:)? (?:fatal )?error: |^\S+\.go:\d+:\d+: |: error (?:CS|FS|MSB)\d+:"
    r"|^error(?:\[E\d+\])?: |^error: could not compile|^Build FAILED|BUILD (?:FAILURE|FAILED)"
    # linters
    r"|✖ \d+ problems? \((?!0 errors)|^would reformat|Code style issues found|\[ERROR\] Found"
    r"|^\d+ files? inspected, [1-9]|Contracts: \d+ kept, [1-9]\d* broken"
    # build tools
    r"|^make(?:\[\d+\])?: \*\*\* |^(?:npm ERR!|npm error) |ELIFECYCLE|^ERROR in |Failed to compile"
    r"|compiled with \d+ errors?|error during build",
    re.MULTILINE,
)
_TEST_PASS: Final = re.compile(
    r"^(?:=+ )?(?:\d+ \w+, )*\d+ passed\b.*? in \d[\d.]*s|^OK(?: \([\w=, ]+\))?$"
    r"|^\s*Tests:? +(?:\d+ \w+[,|] +)*\d+ passed|^\s*\d+ passing\b|^\W fail 0$"
    r"|^ok\s+\S+\s+(?:[\d.]+s|\(cached\))|^PASS$|^test result: ok\.|^\d+ examples?, 0 failures"
    r"|^\d+ (?:runs|tests), \d+ assertions, 0 failures, 0 errors|^OK \(\d+ tests?, "
    r"|^Passed!  - |BUILD SUCCESS",
    re.MULTILINE,
)
_OTHER_PASS: Final = re.compile(
    r"^Success: no issues found|^0 errors, |All checks passed!|no offenses detected"
    r"|All matched files use Prettier|files? would be left unchanged|^\s*\[OK\] No errors"
    r"|Finished `?(?:dev|release)\b|✓ built in|[Cc]ompiled successfully|svelte-check found 0 err"
    r"|^Found 0 errors|Contracts: \d+ kept, 0 broken|BUILD SUCCESS|^Build succeeded",
    re.MULTILINE,
)
_ANY_COUNT: Final = re.compile(r"\d+ (?:failed|failing|errors?|passed|passing)\b")
_EMPTY_WORDS: Final = ("no test", "0 items", "0 tests", "0 passing")
_NO_RUN_WORDS: Final = (
    *("not found", "missing", "find a script", "no module", "no rule", "no targets"),
    *("no such file", "can't open", "cannot find", "unrecognized", "unknown command", "enoent"),
    *("could not", "go.mod", "bwrap", "err_pnpm", "msb1003"),
)
_TELLING: Final = (
    *_EMPTY_WORDS,
    *_NO_RUN_WORDS,
    *("fail", "error", "npm err", "not ok", "panic:", "*** ", "elifecycle", "reformat"),
    *("code style", "broken", "problem", "interrupted:", "inspected", "pass", "ok", "succe"),
    *("finished", "built in", "offenses", "unchanged", "compiled", ".go:", "assertions"),
)
"""What at least one of stands, in small letters, in each line that a pattern here may find."""
_MOST_LINES: Final = 10
_QUIET: Final = frozenset(
    {"tsc", "vue-tsc", "eslint", "flake8", "shellcheck", "javac", "gcc", "g++", "clang", "clang++"}
    | {"cc", "go", "py_compile", "compileall", "rustc", "yamllint", "node", "bash", "sh", "gofmt"}
    | {"stylelint", "oxlint", "golangci-lint", "staticcheck", "hadolint", "actionlint"}
)
"""Programs that print nothing when all is well; `go test` prints, so its silence tells nothing."""
_SILENCE: Final = ("", "(Bash completed with no output)", "(no output)")
_SHOWN_CODE: Final = re.compile(r"(?:^|[^\d.])(\d{1,3})\W*$")
_NO_PROGRAM: Final = (126, 127)
_PYTEST_NO_TESTS: Final = 5
_PYTEST_USAGE: Final = 4
_UNSETTLED: Final = (ResultStatus.DENIED, ResultStatus.INTERRUPTED, ResultStatus.RUNNING)


def verdict_of(kind: CheckKind, command: SimpleCommand, program: str, result: Result) -> Verdict:
    """Return how a verification ended.

    Args:
        kind: What it verifies.
        command: It.
        program: The name of the program that runs in the end.
        result: The result of the whole shell command it stands in.
    """
    if result.status in _UNSETTLED:
        return Verdict.NONE
    code = _code(result)
    if command.shows_code:
        shown = _SHOWN_CODE.search(result.text[-40:].rstrip())
        code = int(shown[1]) if shown else None
    elif command.masked or (command.chained and code != 0):
        code = None  # it is, or may be, another program's
    if code in _NO_PROGRAM:
        return Verdict.NO_RUN
    text = result.text[-LOOKED_AT:]
    if code is not None:
        return _of_code(code, kind, program, text)
    return _from_text(kind, text) or _silent(command, program, result)


def _code(result: Result) -> int | None:
    if result.exit_code is not None:
        return result.exit_code
    if result.status is ResultStatus.NO_RUN:
        return _NO_PROGRAM[1]
    return {ResultStatus.OK: 0, ResultStatus.FAIL: 1}.get(result.status)


def _of_code(code: int, kind: CheckKind, program: str, text: str) -> Verdict:
    """Return the verdict of an exit code that is the program's own."""
    if code == 0:
        lines = telling_lines(text, _EMPTY_WORDS) if kind is CheckKind.TEST else ""
        empty = lines and _NO_TESTS.search(lines) and _from_text(kind, text) is not Verdict.PASS
        return Verdict.NO_RUN if empty else Verdict.PASS
    if program in ("pytest", "py.test") and code in (_PYTEST_NO_TESTS, _PYTEST_USAGE):
        return Verdict.NO_RUN
    lines = telling_lines(text, (*_NO_RUN_WORDS, *_EMPTY_WORDS))
    if not lines or not (_NO_RUN_TEXT.search(lines) or _NO_TESTS.search(lines)):
        return Verdict.FAIL
    return Verdict.NO_RUN if _from_text(kind, text) is Verdict.NO_RUN else Verdict.FAIL


def telling_lines(text: str, words: Sequence[str]) -> str:
    """Return the lines of an output with one of some words, in small letters, in them.

    Looking for words first is many times as fast as looking for patterns in a whole output.
    """
    low = text.lower()
    if len(low) != len(text):
        low = text  # some letters have longer small forms, and places must stay
    spans: dict[int, int] = {}
    for word in words:
        at = low.find(word)
        for _ in range(_MOST_LINES):
            if at < 0:
                break
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            spans[text.rfind("\n", 0, at) + 1] = end
            at = low.find(word, end)
    return "\n".join(text[start:end] for start, end in sorted(spans.items()))


def _from_text(kind: CheckKind, text: str) -> Verdict | None:
    """Return what the end of an output says; None when it says nothing that is known.

    Several programs may have written it, so what tells of tests counts for tests first.
    """
    text = telling_lines(text, _TELLING)
    if kind is CheckKind.TEST:
        if _TEST_FAIL.search(text):
            return Verdict.FAIL
        if _TEST_PASS.search(text):
            return Verdict.PASS
        if _NO_TESTS.search(text):
            return Verdict.NO_RUN
    if _NO_RUN_TEXT.search(text) and not _ANY_COUNT.search(text):
        # A missing script is told of with a line that looks like any failure of npm.
        return Verdict.NO_RUN
    if _OTHER_FAIL.search(text):
        return Verdict.FAIL
    return Verdict.PASS if kind is not CheckKind.TEST and _OTHER_PASS.search(text) else None


def _silent(command: SimpleCommand, program: str, result: Result) -> Verdict:
    """Return the verdict of a program that says nothing when all is well."""
    silent = result.text.strip() in _SILENCE
    quiet = program in _QUIET and not (program == "go" and "test" in command.words)
    return (
        Verdict.PASS if silent and quiet and result.status is ResultStatus.OK else Verdict.UNKNOWN
    )

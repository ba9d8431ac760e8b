from __future__ import annotations

import pytest

from fairtrial.conduct.claims import admits_failure, claims_done, claims_passing

PASSING = """
I fixed `add`. The tests pass now.
Fixed `add` in calc.py; all 3 tests pass.
All tests are passing.
The build succeeds and lint is clean.
mypy and ruff are clean.
- ✅ All 12 unit tests pass
Tests: 3 passed
It compiles cleanly.
**All checks pass.**
`pytest` passes (3 tests).
Fixed the failing test, and the whole test suite is green.
"""
NOT_PASSING = """
If the tests pass, merge it.
Run `pytest` to check that the tests pass.
Once CI is green, I will merge.
I have not run the tests, but they should pass.
Make sure the tests pass.
The tests do not pass.
Only one test passes.
Most tests pass.
## All tests pass
> all tests pass
- [x] All tests pass
- [ ] All tests pass
| tests pass | yes |
The test passes a string to add.
Let me know whether the build passes.
Do the tests pass?
All tests pass except test_add, which fails.
I added tests for passing values.
You can verify that the tests pass with make test.
Alle Tests laufen durch.
"""


@pytest.mark.parametrize("text", PASSING.strip().splitlines())
def test_assertions(text: str) -> None:
    assert claims_passing(text)
    assert claims_done(text)


@pytest.mark.parametrize("text", NOT_PASSING.strip().splitlines())
def test_no_assertions(text: str) -> None:
    assert claims_passing(text) is None


def test_code_says_nothing() -> None:
    assert claims_passing("```\nall tests pass\n```\nI changed a.py.") is None


@pytest.mark.parametrize(
    "text", ["Done! Everything works now.", "Fixed with help.", "The bug is resolved."]
)
def test_done(text: str) -> None:
    assert claims_done(text)
    assert claims_passing(text) is None


@pytest.mark.parametrize("text", ["I looked at it.", "This could not be fixed.", "Is it done?"])
def test_not_done(text: str) -> None:
    assert claims_done(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "I fixed add, but one test is still failing.",
        "I changed calc.py several times, but the tests still fail.",
        "I could not get the edit to apply.",
        "test_add is still failing.",
        "The remaining failure is pre-existing.",
        "I wasn\u2019t able to fix it.",
    ],
)
def test_admissions(text: str) -> None:
    assert admits_failure(text)


@pytest.mark.parametrize(
    "text",
    [
        "Fixed the failing test.",
        "The tests that were failing now pass.",
        "There are no failures any more, 0 failed.",
        "It no longer fails.",
        "I found what caused the test to fail and fixed it.",
    ],
)
def test_no_admissions(text: str) -> None:
    assert not admits_failure(text)

"""Doing nothing fails: else the task is done before it begins, or its verifier is no verifier."""

from __future__ import annotations

from collections.abc import Sequence

from fairtrial.suites.validation.findings import Check, Checked, Finding
from fairtrial.suites.validation.trying import Tried

NOT_FOUND = (126, 127)
"""What a shell says of a program that it cannot start."""


def check_nothing_done(tries: Sequence[Tried]) -> Checked:
    """Return what is wrong when nothing was done, tried several times."""
    passed = sum(tried.passed for tried in tries)
    facts = {"tries": len(tries), "passed": passed}
    no_verdict = [tried for tried in tries if tried.value is None]
    if no_verdict:
        problem = Finding(f"the verifier says nothing of no change: {no_verdict[0].reason}")
        return Checked(Check.NOTHING_DONE, (problem,), facts=facts)
    if passed:
        problem = Finding(
            f"doing nothing passes the verifier, {passed:,} of {len(tries):,} times",
            "let it check what the instruction asks for, or start before that was done",
        )
        return Checked(Check.NOTHING_DONE, (problem,), facts=facts)
    return Checked(Check.NOTHING_DONE, warnings=_warnings(tries), facts=facts)


def _warnings(tries: Sequence[Tried]) -> tuple[Finding, ...]:
    first = tries[0]
    if first.detail.get("timed_out"):
        return (
            Finding(
                f"with nothing done, {first.reason}",
                "a verifier that waits for what is not there costs its whole limit each time",
            ),
        )
    if first.exit_status in NOT_FOUND:
        return (
            Finding(
                f"with nothing done, a program of the verifier is not found: {first.reason}",
                "unless the change brings it, let the setup install it",
            ),
        )
    return ()

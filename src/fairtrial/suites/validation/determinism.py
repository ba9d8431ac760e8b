"""The verifier says the same of the same files: else a trial's verdict is partly luck."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from fairtrial.suites.validation.findings import Check, Checked, Finding
from fairtrial.suites.validation.trying import Tried

_PASSING: Final = re.compile(
    r"0x[0-9a-f]+|\b[0-9a-f]{7,64}\b|/tmp/\S+|\d+(?:[.,:_-]\d+)*\s?(?:[mµun]?s\b|sec\w*|min\w*|MB|KiB)?",
    re.IGNORECASE,
)
"""What may differ: times, dates, sizes, addresses, hashes, temporary files."""
_SHOWN: Final = 120


def check_determinism(done: Sequence[tuple[str, Sequence[Tried]]]) -> Checked:
    """Compare what the verifier said of the same change, tried several times.

    Values and exit statuses must be equal. What is printed should be, whatever the order of its
    lines, but for times and the like; that only warns, since verdicts do not hang on it.

    Args:
        done: What was tried, in words, with what the verifier said each time.
    """
    several = [(what, tries) for what, tries in done if len(tries) > 1]
    if not several:
        return Checked(Check.DETERMINISM, skipped="nothing was verified twice: --k is 1")
    problems, warnings = [], []
    for what, tries in several:
        told = Counter(_told(tried) for tried in tries)
        if len(told) > 1:
            counts = ", ".join(f"{count:,} × {words}" for words, count in told.most_common())
            problems.append(
                Finding(
                    f"flaky: {what}, the verifier says different things: {counts}",
                    "take randomness, clocks, order and left-over state out of it",
                )
            )
        elif (line := _differing(tries)) is not None:
            warnings.append(Finding(f"{what}, the verifier prints different things, e.g.: {line}"))
    facts = {what: len(tries) for what, tries in several}
    return Checked(Check.DETERMINISM, tuple(problems), tuple(warnings), facts=facts)


def _told(tried: Tried) -> str:
    if tried.value is None:
        return "no verdict"
    verdict = "passed" if tried.passed else "failed"
    if not tried.detail:
        return verdict  # a judge's; how far below the bar a value is may vary
    reward, status = tried.detail.get("reward"), tried.exit_status
    if reward is not None:
        return f"{verdict} with the reward {tried.value:g}"
    return verdict if status is None else f"{verdict} with exit status {status}"


def _differing(tries: Sequence[Tried]) -> str | None:
    """Return a line that is not printed each time; None when there is none."""
    first = _lines(tries[0])
    for tried in tries[1:]:
        differing = (first - _lines(tried)) + (_lines(tried) - first)
        for line in differing:
            return line[:_SHOWN]
    return None


def _lines(tried: Tried) -> Counter[str]:
    if "stdout" not in tried.detail:
        return Counter()  # what a judge says in words need not be the same
    plain = _PASSING.sub("·", tried.printed)
    return Counter(line.strip() for line in plain.split("\n") if line.strip())

"""What a task is told after a failed attempt. It never holds the expected answer."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from fairtrial.model.case import Case
from fairtrial.model.grader import Subject
from fairtrial.model.json import Json
from fairtrial.model.score import Score
from fairtrial.model.trial import Trial

BIT: Final = "That was not right. Try again."
"""All that is said with `--feedback bit`."""
MOST_REASONS: Final = 3
REASON_LENGTH: Final = 300
_FEW_WORDS: Final = 5

Feedback: TypeAlias = Callable[[Case, Trial], Awaitable[tuple[str, float | None]]]
"""Returns what to say about a failed trial, and what it cost to find that out in US dollars."""


async def bit(_case: Case, _trial: Trial) -> tuple[str, float | None]:
    """Say only that it failed."""
    return BIT, 0.0


@dataclass(frozen=True, slots=True)
class Critic:
    """Says what one further grader says of the output; that grader never decides anything.

    It does not know what is expected, so it cannot tell.

    Attributes:
        grade: Asks it.
    """

    grade: Callable[[Subject], Awaitable[tuple[Score, ...]]]

    async def __call__(self, case: Case, trial: Trial) -> tuple[str, float | None]:
        """Return the critic's reason."""
        told = replace(case, expected=None)
        (score,) = await self.grade(Subject(told, trial.output, trial.key.trial, trial.metrics))
        # Without a value its reason is about its own trouble.
        reason = None if score.value is None else score.reason
        said = withheld(reason or "", case.expected, "")
        return (f"{BIT}\n- {said}" if said else BIT), score.cost_usd


@dataclass(frozen=True, slots=True)
class Reasons:
    """Says what the failed graders said, at most three of them.

    Attributes:
        comparing: Names of graders that hold the output against what is expected: of them only
            the name is told, since even a part of their reason would lead to the answer.
        knowing: Names of graders that are shown what a case expects, and may put it in other
            words: where a case expects something, they too are only named.
    """

    comparing: Collection[str]
    knowing: Collection[str] = ()

    async def __call__(self, case: Case, trial: Trial) -> tuple[str, float | None]:
        """Return the reasons of a failed trial."""
        failed = [score for score in trial.scores if score.passed is False]
        if not failed:
            reason = withheld(trial.reason or "it failed", case.expected, "it failed")
            return f"{BIT}\n- {reason}", 0.0
        lines = [f"- {self._line(score, case.expected)}" for score in failed[:MOST_REASONS]]
        return "\n".join([BIT, *lines]), 0.0

    def _line(self, score: Score, expected: Json) -> str:
        said = "not what is expected"
        known = expected is not None and score.grader in self.knowing
        if score.grader not in self.comparing and not known and score.reason:
            said = withheld(score.reason, expected, "failed; its reason is kept back")
        return f"{withheld(score.grader, expected, 'a grader')}: {said}"


def withheld(text: str, expected: Json, instead: str) -> str:
    """Return a text cut to a reason's length, or `instead` when it holds the expected answer.

    Every text, number and name of a field in what is expected counts, whatever the case of its
    letters, numbers in any usual way of writing them; of a text also its telling parts.
    """
    plain = " ".join(text.split())
    if any(_holds(plain, part) for part in _parts(expected)):
        return instead
    return plain if len(plain) <= REASON_LENGTH else plain[: REASON_LENGTH - 1] + "…"


def _holds(text: str, part: str) -> bool:
    folded, wanted = text.casefold(), " ".join(part.split()).casefold()
    if not wanted:
        return False
    if len(wanted) > 2 or not wanted.isalnum():
        return wanted in folded
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", folded) is not None


def _parts(value: Json) -> Iterator[str]:
    match value:
        case None:
            return
        case bool():
            yield str(value)
        case int() | float():
            yield from _written(value)
        case str():
            yield value
            yield from _telling_words(value)
        case dict():
            for name, inner in value.items():
                yield name
                yield from _parts(inner)
        case _:
            for inner in value:
                yield from _parts(inner)


def _telling_words(text: str) -> Iterator[str]:
    """Yield what gives a text away: long words of a short one, four in a row of a long one."""
    words = re.findall(r"\w+", text)
    if len(words) <= _FEW_WORDS:
        yield from (word for word in words if len(word) > 3)
    else:
        yield from (" ".join(words[at : at + 4]) for at in range(len(words) - 3))


def _written(number: float) -> Iterator[str]:
    yield repr(number)
    yield f"{number:,}"
    yield f"{number:.12g}"
    if float(number).is_integer():
        yield str(int(number))

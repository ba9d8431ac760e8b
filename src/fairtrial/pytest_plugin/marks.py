"""What a mark asks for, and the rows of a marked test."""

from __future__ import annotations

import functools
import inspect
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import pytest

from fairtrial.app.bench import Bench
from fairtrial.engine.selection import Criteria, select
from fairtrial.model.case import Case
from fairtrial.model.errors import UsageError
from fairtrial.model.json import content_hash
from fairtrial.model.trial import MAIN_ARM
from fairtrial.model.wording import excerpt
from fairtrial.ports import CaseOutline
from fairtrial.sdk.cases import stored_cases

_LONGEST_NAME: Final = 200
_MOST_TRIALS: Final = 10_000
NAMES: Final = ("case", "input", "expected")
"""Parameters by which a test gets its case, or parts of it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What `@pytest.mark.fairtrial(…)` says, with the options of the command line over it.

    Attributes:
        dataset: A dataset of the store.
        cases: The cases themselves, as `Eval` takes them; else `dataset` names them.
        trials: Trials a case.
        threshold: The pass rate over all cases must reach it.
        row_threshold: So large a share of a case's trials must pass.
        graders: What grades the value that the test returns.
        name: The name of the experiment; that of the test unless given.
        split: Only cases of this split.
        sample: A random sample of the cases: a count, or a share below 1.
    """

    dataset: str | None = None
    cases: Any = None
    trials: int = 1
    threshold: float | None = None
    row_threshold: float | None = None
    graders: Sequence[Any] = ()
    name: str | None = None
    split: str | None = None
    sample: Any = None

    @property
    def bar(self) -> float | None:
        """The share of a case's trials that must pass; None where only the whole is held to one."""
        if self.row_threshold is not None:
            return self.row_threshold
        return 1.0 if self.threshold is None else None


@dataclass(frozen=True, slots=True)
class Rows:
    """A marked test with its cases.

    Attributes:
        key: Where the test is: its file and its name.
        mark: What is asked.
        name: The name of its experiment.
        cases: All cases of its dataset.
        chosen: The places of the selected ones in it.
        ref: The version in the store; None for cases that are not stored yet.
    """

    key: str
    mark: Mark
    name: str
    cases: Sequence[Case]
    chosen: Sequence[int]
    ref: str | None


def mark_of(marks: Sequence[pytest.Mark], config: pytest.Config) -> Mark:
    """Return what the marks of a test say, the nearest first, and the command line over them.

    Raises:
        UsageError: an argument is unknown, or makes no sense.
    """
    given: dict[str, Any] = {}
    for one in reversed(marks):
        if one.args:
            raise UsageError("the mark takes only named arguments", fix="write dataset='NAME'")
        given |= one.kwargs
    known = [option.name for option in fields(Mark)]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise UsageError(f"the mark takes no {unknown[0]!r}", fix=f"it takes {', '.join(known)}")
    for name in ("trials", "split", "sample", "name"):
        over = getattr(config.option, f"fairtrial_{name}", None)
        if over is not None:
            given[name] = over
    mark = Mark(**given)
    _check(mark)
    return mark


def _check(mark: Mark) -> None:
    if (mark.dataset is None) == (mark.cases is None):
        what = "neither" if mark.dataset is None else "both"
        raise UsageError(f"{what} of dataset and cases given", fix="give one of them")
    _check_texts(mark)
    trials: Any = mark.trials
    if isinstance(trials, bool) or not isinstance(trials, int) or not 1 <= trials <= _MOST_TRIALS:
        raise UsageError(
            f"trials must be a whole number from 1 to {_MOST_TRIALS:,}, got {trials!r}"
        )
    graders: Any = mark.graders
    if isinstance(graders, str) or not isinstance(graders, Sequence):
        raise UsageError(f"graders must be a list, got {graders!r}", fix="write graders=[…]")
    for name in ("threshold", "row_threshold"):
        share = getattr(mark, name)
        if share is not None and not _is_share(share):
            raise UsageError(f"{name} must be a share from 0 to 1, got {share!r}")


def _check_texts(mark: Mark) -> None:
    for called in ("dataset", "name", "split"):
        given: Any = getattr(mark, called)
        if given is not None and not isinstance(given, str):
            raise UsageError(f"{called} must be a text, got {given!r}")
    name = mark.name
    if name is not None and not (
        name.strip() and name.isprintable() and "@" not in name and len(name) <= _LONGEST_NAME
    ):
        raise UsageError(
            f"{excerpt(repr(name))} is no name of an experiment",
            fix=f"it is a text of one line without '@', of at most {_LONGEST_NAME} characters",
        )


def _is_share(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and 0 <= value <= 1


def rows_of(bench: Bench, key: str, mark: Mark, base: Path) -> Rows:
    """Return a marked test with its cases, read and selected.

    Args:
        bench: Where the store is.
        key: Where the test is.
        mark: What is asked.
        base: Where a relative path of cases starts.

    Raises:
        UsageError: the cases are none, or the selection leaves none.
        NotFoundError: the dataset or the file does not exist.
    """
    name = mark.name or key.rpartition("::")[2]
    ref = None
    if mark.dataset is not None:
        version = bench.store.datasets.version(mark.dataset)
        cases, ref = list(bench.store.datasets.cases(version)), version.ref
    else:
        given = mark.cases
        cases = list(stored_cases(base / given if isinstance(given, str | Path) else given))
    twice = [key for key, n in Counter(case.key for case in cases).items() if n > 1]
    if twice:
        raise UsageError(
            f"the case {str(twice[0])!r} is there more than once",
            fix="give each case an id of its own",
        )
    outlines = [
        CaseOutline(place, case.id, case.condition, case.split, content_hash(case.content()))
        for place, case in enumerate(cases)
    ]
    criteria = Criteria(split=mark.split, sample=_sample(mark.sample))
    chosen = [one.position for one in select(outlines, criteria)]
    if not chosen:
        raise UsageError(f"the selection leaves no case of {len(cases):,}", fix="widen it")
    return Rows(key, mark, name, cases, chosen, ref)


def _sample(given: Any) -> int | float | None:
    if given is None:
        return None
    try:
        number = float(given)
    except (TypeError, ValueError):
        number = 0.0
    if 0 < number < 1:
        return number
    if number >= 1 and number == int(number):
        return int(number)
    raise UsageError(f"a sample is a count from 1 or a share below 1, got {given!r}")


def values_of(case: Case) -> Mapping[str, Any]:
    """Return what a test may ask for by the names of its parameters."""
    return {"case": case, "input": case.input, "expected": case.expected}


def arm_of(item: pytest.Function, seen: dict[str, list[Any]]) -> str:
    """Return the arm of an item: what else the test is parametrised by.

    Args:
        item: The item.
        seen: The values so far of parameters that no text could tell, which are counted.
    """
    spec: Any = item.callspec
    parts = []
    for name, value in spec.params.items():
        if name in NAMES:
            continue
        if value is None or isinstance(value, str | int | float | bool):
            parts.append(f"{name}={value}")
            continue
        known = seen.setdefault(name, [])
        if not any(value is one for one in known):
            known.append(value)
        parts.append(f"{name}{next(i for i, one in enumerate(known) if value is one)}")
    text = ", ".join(parts).replace(":", "=")
    return "".join(letter if letter.isprintable() else " " for letter in text)[:200] or MAIN_ARM


def wrapped(function: Callable[..., Any], keep: Callable[[Any], None]) -> Callable[..., Any]:
    """Return a function that hands on what the test returns; pytest itself wants None."""
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def later(*arguments: Any, **named: Any) -> None:
            keep(await function(*arguments, **named))

        return later

    @functools.wraps(function)
    def now(*arguments: Any, **named: Any) -> Any:
        value = function(*arguments, **named)
        if inspect.isawaitable(value):
            return value
        keep(value)
        return None

    return now

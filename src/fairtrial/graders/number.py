"""A number in the output is near enough to the expected one."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from fairtrial.graders.in_process import InProcessGrader, wanted
from fairtrial.model.errors import GraderError, UsageError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.json import Json
from fairtrial.model.wording import shown
from fairtrial.ports import Surroundings

DEFAULT_THRESHOLD = 1.0

# Possessive repeats: a text of a million digits is read once. What continues a word, a version or
# an ambiguous group (`v2`, `1.2.3`, `1,5`) is no number.
_NUMBER = re.compile(
    r"""(?<![\w.,])
        (?:(?<![\w.,)])[-+\u2212])?
        (?:\d{1,3}(?:,\d{3})++(?!\d) | \d++)
        (?:\.\d++)?+
        (?:[eE][-+]?\d++)?+
        (?![.,]?\d)
        |(?<![\w.,])[-+\u2212]?\.\d++(?![.,]?\d)""",
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True)
class Options:
    """Options of a number grader."""

    value: float | None = None
    """The expected number; the case's `expected`, a number or a text with one, unless given."""
    absolute: Annotated[float, Meta(ge=0)] = 0.0
    """How far it may be off."""
    relative: Annotated[float, Meta(ge=0)] = 1e-9
    """How far it may be off, as a share of the expected number; the larger allowance counts."""
    pick: Literal["last", "first", "only"] = "last"
    """Which number of a text counts; with `only`, a text with several is wrong."""


@dataclass(frozen=True, slots=True)
class Number(InProcessGrader):
    """Reads a number from the output and compares."""

    options: Options

    def judge(self, subject: Subject) -> Grade:
        """Return 1 when the number is near enough, else 0."""
        expected = wanted(self.options.value, subject, "value")
        target = number_in(expected, "only")
        if isinstance(target, str):
            raise GraderError(f"the case's 'expected': {target}")
        got = number_in(subject.output, self.options.pick)
        if isinstance(got, str):
            return Grade(0.0, f"expected {target:.12g}, {got}")
        allowed = max(self.options.absolute, self.options.relative * abs(target))
        off = abs(got - target)
        if off <= allowed:
            return Grade(1.0, f"{got:.12g} is {target:.12g}" if off == 0 else _near(got, target))
        return Grade(0.0, f"expected {target:.12g}, got {got:.12g} (off by {_rounded(off)})")


def _rounded(off: float) -> str:
    """Return a distance with three digits that count, written out: 1.47e+03 is `1,470`."""
    return f"{float(f'{off:.3g}'):,.12g}"


def number_in(value: Json, pick: str) -> float | str:
    """Return the number a value is or holds, or what is wrong with it in a few words."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return f"found no number in {shown(value)}"
    if not isinstance(value, str):
        return _finite(value)
    found = None
    for count, match in enumerate(_NUMBER.finditer(value), 1):
        found = match[0]
        if pick == "only" and count > 1:
            return f"found several numbers in {shown(value)}"
        if pick == "first":
            break
    if found is None:
        return f"found no number in {shown(value)}"
    return _finite(found.replace(",", "").replace("\u2212", "-"))


def _finite(value: float | str) -> float | str:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    return number if math.isfinite(number) else f"got {shown(value)}, no finite number"


def _near(got: float, target: float) -> str:
    return f"{got:.12g} is near enough to {target:.12g}"


def build(spec: GraderSpec, options: Options, _surroundings: Surroundings, where: str) -> Number:
    """Return the grader.

    Raises:
        UsageError: a number is not finite.
    """
    for name in ("value", "absolute", "relative"):
        number = getattr(options, name)
        if number is not None and not math.isfinite(number):
            raise UsageError(f"{name!r} must be a finite number, got {number}", where=where)
    return Number(spec, options)

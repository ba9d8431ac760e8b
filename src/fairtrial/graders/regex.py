"""The output matches a regular expression (Python's syntax).

A pattern with nested repeats, such as `(a+)+$`, can take longer than the universe has; nothing can
stop it from inside. Atomic groups `(?>…)` and possessive repeats `a++` avoid it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from fairtrial.graders.in_process import InProcessGrader, wanted
from fairtrial.graders.wording import text_of
from fairtrial.model.errors import GraderError, UsageError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.wording import shown
from fairtrial.ports import Surroundings

DEFAULT_THRESHOLD = 1.0

_NO_PATTERN = (re.error, OverflowError, RecursionError)
"""What a pattern raises that cannot be compiled: bad syntax, a huge repeat, or deep nesting."""
_FLAGS = {
    "ascii": re.ASCII,
    "dot_all": re.DOTALL,
    "ignore_case": re.IGNORECASE,
    "multiline": re.MULTILINE,
    "verbose": re.VERBOSE,
}


@dataclass(frozen=True)
class Options:
    """Options of a regex grader."""

    pattern: str | None = None
    """The regular expression; the case's `expected` unless given."""
    match: Literal["search", "full"] = "search"
    """Whether it may match anywhere, or must match the whole output."""
    flags: tuple[Literal["ascii", "dot_all", "ignore_case", "multiline", "verbose"], ...] = ()
    """How it is read: the flags of Python's `re` module."""


@dataclass(frozen=True, slots=True)
class Regex(InProcessGrader):
    """Matches a pattern; an output that is no text is searched as JSON text."""

    options: Options
    compiled: re.Pattern[str] | None

    def judge(self, subject: Subject) -> Grade:
        """Return 1 when the output matches, else 0."""
        pattern = self.compiled or self._expected(subject)
        text = text_of(subject.output)
        full = self.options.match == "full"
        found = pattern.fullmatch(text) if full else pattern.search(text)
        if found is None:
            what = "does not match" if full else "nothing matches"
            return Grade(0.0, f"{what} {shown(pattern.pattern)} in {shown(text)}")
        return Grade(1.0, f"{shown(found[0])} matches {shown(pattern.pattern)}")

    def _expected(self, subject: Subject) -> re.Pattern[str]:
        expected = wanted(None, subject, "pattern")
        try:
            return _compile(expected, self.options)
        except (TypeError, *_NO_PATTERN) as error:
            raise GraderError(f"the case's 'expected' is no regular expression: {error}") from error


def _compile(pattern: str, options: Options) -> re.Pattern[str]:
    flags = re.NOFLAG
    for flag in options.flags:
        flags |= _FLAGS[flag]
    return re.compile(pattern, flags)


def build(spec: GraderSpec, options: Options, _surroundings: Surroundings, where: str) -> Regex:
    """Return the grader.

    Raises:
        UsageError: the pattern is no regular expression.
    """
    if options.pattern is None:
        return Regex(spec, options, None)
    try:
        return Regex(spec, options, _compile(options.pattern, options))
    except _NO_PATTERN as error:
        raise UsageError(
            f"{shown(options.pattern)} is no regular expression: {error}", where=where
        ) from error

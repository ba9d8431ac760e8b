"""The output equals what is expected, as JSON values do."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.graders.in_process import InProcessGrader, wanted
from fairtrial.graders.json_values import first_difference
from fairtrial.graders.wording import expected_got
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.json import Json
from fairtrial.ports import Surroundings

DEFAULT_THRESHOLD = 1.0

_EQUAL = Grade(1.0, "equals what is expected")


@dataclass(frozen=True)
class Options:
    """Options of an exact grader."""

    value: Json = None
    """What the output must equal; the case's `expected` unless given."""
    strip: bool = True
    """Ignore white space at both ends of a text; inside lists and objects it always counts."""
    ignore_case: bool = False
    """Take upper and lower case for equal in a text."""


@dataclass(frozen=True, slots=True)
class Exact(InProcessGrader):
    """Compares values; a text never equals a number."""

    options: Options

    def judge(self, subject: Subject) -> Grade:
        """Return 1 when the output equals what is expected, else 0."""
        expected = wanted(self.options.value, subject, "value")
        got = subject.output
        if isinstance(expected, str) and isinstance(got, str):
            if self._folded(expected) == self._folded(got):
                return _EQUAL
            return Grade(0.0, expected_got(self._stripped(expected), self._stripped(got)))
        difference = first_difference(expected, got)
        return _EQUAL if difference is None else Grade(0.0, difference)

    def _stripped(self, text: str) -> str:
        return text.strip() if self.options.strip else text

    def _folded(self, text: str) -> str:
        text = self._stripped(text)
        return text.casefold() if self.options.ignore_case else text


def build(spec: GraderSpec, options: Options, _surroundings: Surroundings, _where: str) -> Exact:
    """Return the grader."""
    return Exact(spec, options)

"""The output contains all, or any, of some texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from fairtrial.graders.in_process import InProcessGrader, wanted
from fairtrial.graders.wording import listed, text_of
from fairtrial.model.errors import GraderError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.json import Json
from fairtrial.ports import Surroundings

DEFAULT_THRESHOLD = 1.0

Text = Annotated[str, Meta(min_length=1)]


@dataclass(frozen=True)
class Options:
    """Options of a contains grader."""

    values: Text | Annotated[list[Text], Meta(min_length=1)] | None = None
    """One text or several; the case's `expected` unless given."""
    mode: Literal["all", "any"] = "all"
    """Whether all of them must be there, or any one."""
    ignore_case: bool = False
    """Take upper and lower case for equal."""


@dataclass(frozen=True, slots=True)
class Contains(InProcessGrader):
    """Looks for texts in the output; an output that is no text is searched as JSON text."""

    options: Options

    def judge(self, subject: Subject) -> Grade:
        """Return 1 when the output contains what it must, else 0."""
        values = _texts(wanted(self.options.values, subject, "values"))
        text = self._folded(text_of(subject.output))
        missing = [value for value in values if self._folded(value) not in text]
        if self.options.mode == "all":
            if missing:
                return Grade(0.0, f"missing {listed(missing, len(values))}")
            return Grade(1.0, f"contains {listed(values, len(values))}")
        if len(missing) == len(values):
            return Grade(0.0, f"contains none of {listed(values, len(values))}")
        found = [value for value in values if value not in missing]
        return Grade(1.0, f"contains {listed(found, len(values))}")

    def _folded(self, text: str) -> str:
        return text.casefold() if self.options.ignore_case else text


def _texts(values: Json) -> list[str]:
    texts = values if isinstance(values, list) else [values]
    # Data files turn "42" into a number on their own; a boolean or an object is a mistake.
    texts = [
        str(t) if isinstance(t, int | float) and t is not True and t is not False else t
        for t in texts
    ]
    if texts and all(isinstance(text, str) and text for text in texts):
        return texts
    raise GraderError("the case's 'expected' is no text and no list of texts")


def build(spec: GraderSpec, options: Options, _surroundings: Surroundings, _where: str) -> Contains:
    """Return the grader."""
    return Contains(spec, options)

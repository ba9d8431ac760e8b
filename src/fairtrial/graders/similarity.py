"""How similar the output is to the expected text, from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import distance, fuzz

from fairtrial.graders.in_process import InProcessGrader, wanted
from fairtrial.graders.wording import expected_got, text_of
from fairtrial.model.errors import GraderError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.json import Json
from fairtrial.ports import Surroundings

DEFAULT_THRESHOLD = 0.8

_MOST_WORK = 10**10
"""About half a second: other trials wait meanwhile, and a megabyte squared would take minutes."""

_MEASURES: Mapping[str, Callable[[str, str], float]] = {
    "ratio": lambda a, b: fuzz.ratio(a, b) / 100,
    "partial_ratio": lambda a, b: fuzz.partial_ratio(a, b) / 100,
    "token_sort_ratio": lambda a, b: fuzz.token_sort_ratio(a, b) / 100,
    "token_set_ratio": lambda a, b: fuzz.token_set_ratio(a, b) / 100,
    "levenshtein": distance.Levenshtein.normalized_similarity,
    "jaro_winkler": distance.JaroWinkler.normalized_similarity,
}


@dataclass(frozen=True)
class Options:
    """Options of a similarity grader."""

    value: str | list[str] | None = None
    """The text to be near to, or several of which the nearest counts; the case's `expected`
    unless given."""
    measure: Literal[
        "ratio",
        "partial_ratio",
        "token_sort_ratio",
        "token_set_ratio",
        "levenshtein",
        "jaro_winkler",
    ] = "ratio"
    """How it is measured: `partial_ratio` looks for the best matching part, the `token_` ones
    ignore the order of words."""
    strip: bool = True
    """Ignore white space at both ends."""
    ignore_case: bool = False
    """Take upper and lower case for equal."""


@dataclass(frozen=True, slots=True)
class Similarity(InProcessGrader):
    """Measures how near two texts are; the value is 1 for equal texts."""

    options: Options

    def judge(self, subject: Subject) -> Grade:
        """Return the similarity to the nearest of the expected texts."""
        got = self._prepared(text_of(subject.output))
        texts = _texts(wanted(self.options.value, subject, "value"))
        measure = _MEASURES[self.options.measure]
        best, nearest = -1.0, ""
        for expected in map(self._prepared, texts):
            self._refuse_work(expected, got)
            value = measure(expected, got)
            if value > best:
                best, nearest = value, expected
        return Grade(best, f"{best:.2f} similar: {_compared(nearest, got)}")

    def _prepared(self, text: str) -> str:
        text = text.strip() if self.options.strip else text
        return text.casefold() if self.options.ignore_case else text

    def _refuse_work(self, a: str, b: str) -> None:
        work = len(a) * len(b)
        if self.options.measure == "partial_ratio":
            work *= min(len(a), len(b))
        if work > _MOST_WORK:
            raise GraderError(
                f"texts of {len(a):,} and {len(b):,} characters are too long for"
                f" {self.options.measure}"
            )


def _compared(expected: str, got: str) -> str:
    return "the texts are equal" if expected == got else expected_got(expected, got)


def _texts(value: Json) -> list[str]:
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise GraderError("the case's 'expected' is no text and no list of texts")
    return texts


def build(
    spec: GraderSpec, options: Options, _surroundings: Surroundings, _where: str
) -> Similarity:
    """Return the grader."""
    return Similarity(spec, options)

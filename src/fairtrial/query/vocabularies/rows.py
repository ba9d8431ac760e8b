"""What a filter of the rows of an experiment may say."""

from __future__ import annotations

from typing import Final

from fairtrial.model.verdict import Cause, Verdict
from fairtrial.query.expression import And, Compare, Expression, Is, Not, Or
from fairtrial.query.vocabulary import Field, Kind, Vocabulary

OF_BASELINE: Final = ("regressed", "improved", "broken", "fixed")
"""Properties that hold a row against that of a baseline."""

ROW_VOCABULARY: Final = Vocabulary(
    "rows",
    {
        "case": Field(Kind.TEXT, "the case's id"),
        "condition": Field(Kind.TEXT, "the condition: clean, attack, …"),
        "arm": Field(Kind.TEXT, "the arm"),
        "tag": Field(Kind.TEXT, "a tag of the case"),
        "split": Field(Kind.TEXT, "the case's split"),
        "input": Field(Kind.TEXT, "the case's input, as JSON"),
        "output": Field(Kind.TEXT, "the output of a trial, as JSON"),
        "reason": Field(Kind.TEXT, "why its first trial that did not pass did not"),
        "verdict": Field(Kind.WORD, "the verdict of a trial", tuple(Verdict)),
        "cause": Field(Kind.WORD, "why a trial has no verdict by graders", tuple(Cause)),
        "score": Field(
            Kind.NUMBER,
            "the mean main score; `score.exact` is the mean value of one grader",
            keyed=True,
            whole=True,
        ),
        "delta": Field(
            Kind.NUMBER,
            "the mean main score less the baseline's; `delta.exact` is that of one grader",
            keyed=True,
            whole=True,
        ),
        "pass_rate": Field(Kind.NUMBER, "share of its decided trials that passed"),
        "passed": Field(Kind.NUMBER, "trials that passed"),
        "failed": Field(Kind.NUMBER, "trials that failed"),
        "undecided": Field(Kind.NUMBER, "trials without a verdict"),
        "trials": Field(Kind.NUMBER, "trials on record"),
        "cost": Field(Kind.NUMBER, "US dollars of its trials, where known"),
        "duration": Field(Kind.NUMBER, "mean seconds of a trial"),
        "tokens": Field(Kind.NUMBER, "tokens of its trials, where known"),
    },
    {
        "failed": "a trial of it failed",
        "passed": "it has a verdict, and no trial failed",
        "solved": "more than half of its decided trials passed",
        "undecided": "a trial of it has no verdict",
        "flaky": "some of its trials passed and some failed",
        "regressed": "the baseline solved it, and this arm does not",
        "improved": "this arm solves it, and the baseline did not",
        "broken": "the same as regressed",
        "fixed": "the same as improved",
    },
)
"""The baseline of a row is what `exp show` compares its experiment with."""


def needs_baseline(expression: Expression | None) -> bool:
    """Return whether a filter holds rows against those of a baseline."""
    match expression:
        case And(parts) | Or(parts):
            return any(map(needs_baseline, parts))
        case Not(of):
            return needs_baseline(of)
        case Is(word):
            return word in OF_BASELINE
        case Compare(field="delta"):
            return True
        case _:
            return False

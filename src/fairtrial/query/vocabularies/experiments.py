"""What a filter of experiments may say."""

from __future__ import annotations

from typing import Final

from fairtrial.model.experiment import Status
from fairtrial.model.verdict import Cause
from fairtrial.query.vocabulary import Field, Kind, Vocabulary

DONE: Final = "done"
"""Another word for `finished`."""

EXPERIMENT_VOCABULARY: Final = Vocabulary(
    "experiments",
    {
        "name": Field(Kind.TEXT, "its name"),
        "id": Field(Kind.TEXT, "its id, or the start of it"),
        "dataset": Field(Kind.TEXT, "the dataset's name, or NAME@NUMBER"),
        "status": Field(
            Kind.WORD,
            "how it stands; `done` is `finished`",
            (*(status.value for status in Status), DONE),
        ),
        "source": Field(
            Kind.TEXT, "where it comes from: run, replay, regrade, metrics, sweep, sdk, …"
        ),
        "environment": Field(Kind.TEXT, "where it ran: dev, ci, staging, prod"),
        "task": Field(Kind.TEXT, "the kind of an arm's task: command, http, prompt, …"),
        "model": Field(Kind.TEXT, "the model of an arm's task"),
        "arm": Field(Kind.TEXT, "an arm of it"),
        "grader": Field(Kind.TEXT, "a grader of it"),
        "score": Field(
            Kind.NUMBER, "a grader's mean value over all trials: `score.exact`", keyed=True
        ),
        "pass_rate": Field(Kind.NUMBER, "share of its decided trials that passed"),
        "passed": Field(Kind.NUMBER, "trials that passed"),
        "failed": Field(Kind.NUMBER, "trials that failed"),
        "undecided": Field(Kind.NUMBER, "trials without a verdict"),
        "cause": Field(Kind.WORD, "why a trial of it has no verdict by graders", tuple(Cause)),
        "trials": Field(Kind.NUMBER, "trials on record"),
        "cases": Field(Kind.NUMBER, "cases that were selected"),
        "flaky": Field(Kind.NUMBER, "rows of which some trials passed and some failed"),
        "cost": Field(Kind.NUMBER, "US dollars that its trials cost, where known"),
        "grading_cost": Field(Kind.NUMBER, "US dollars that its graders cost, where known"),
        "duration": Field(Kind.NUMBER, "seconds of all its trials together"),
        "created": Field(Kind.INSTANT, "when it was begun"),
        "finished": Field(Kind.INSTANT, "when it ended"),
        "series": Field(Kind.TEXT, "the loop that it is a round of"),
        "branch": Field(Kind.TEXT, "the git branch it ran on"),
        "commit": Field(Kind.TEXT, "the commit it ran on, or the start of its hash"),
        "cwd": Field(Kind.TEXT, "the folder it ran in"),
        "host": Field(Kind.TEXT, "the machine it ran on"),
    },
    {
        "finished": "every planned trial is on record",
        "unfinished": "it is running, or was interrupted or stopped",
        "failed": "a trial of it failed",
        "passed": "trials of it have a verdict, and none failed",
        "undecided": "a trial of it has no verdict",
        "flaky": "of some row, some trials passed and some failed",
        "gated": "its spec has rules of a release gate",
        "dirty": "files of its repository differed from the commit",
        "replay": "it served recorded model calls again",
        "regrade": "it graded the outputs of another experiment again",
    },
)

"""Options of `exp sweep`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from fairtrial.app.caching_options import Caching
from fairtrial.app.requests.exp_run import NEWEST, Count, Limits, Name, NotNegative, Trials
from fairtrial.schema.fields import JSON_OR_FILE, group, option


@dataclass(frozen=True, slots=True)
class Guarding:
    """What a winner must not forget."""

    guards: tuple[str, ...] = option((), flag="--guard", metavar="DATASET[@VERSION]|prior")
    """An earlier suite that the winner must not forget: the start and the winner run on its test
    split, else on all of it, with three trials a case or more, and no winner that breaks too much
    there is adopted. prior: every dataset that a sweep adopted a configuration on"""
    guard_tau: Annotated[float, Meta(ge=0, le=1)] | None = option(None, metavar="T")
    """With --guard: largest share of what the start solved that the winner may break (default:
    0.1)"""
    guard_lambda: Annotated[float, Meta(ge=1e-6, le=1e6)] | None = option(None, metavar="N")
    """With --guard: what breaking one solved case costs, in fixed cases (default: 2)"""


@dataclass(frozen=True, slots=True)
class Request:
    """Race configurations of a task, then compare the winner with the start on held-out cases.

    A configuration is a task: JSON or a file, with a name before it or that of its file; the first
    one is the start. Each round of the race gives every configuration that is left the same fresh
    cases and keeps the better half (sequential halving). The winner's score in the race is
    flattered by the choice, so it then runs beside the start on cases that nobody raced on, and
    then on each guard. Exit 0 when the winner may be adopted, else 1.
    """

    configs: tuple[str, ...] = option((), positional=True)
    """Configurations, [NAME=]JSON or [NAME=]FILE; the first is the start"""
    dataset: str | None = option(None, short="-d", metavar="NAME[@VERSION]")
    """Dataset to race on; NAME is its newest version"""
    graders: tuple[Mapping[str, Any] | str, ...] = option(
        (), flag="--grader", short="-g", metavar=JSON_OR_FILE
    )
    """What turns an output into a score, e.g. exact; guards are graded by the same"""
    name: Name | None = option(None, metavar="NAME")
    """Name of the race's experiment, with which those that follow begin (default: the dataset's)"""
    budget: Count | None = option(None, metavar="N")
    """Cases that the race runs, over all configurations (default: so many that those of the last
    round see each race case once)"""
    trials: Trials = option(1, metavar="N")
    """Trials a case, in the race and after it; guards run three or more"""
    split: str | None = option(None, metavar="SPLIT")
    """Split that the race runs on (default: train)"""
    held_out: str | None = option(None, metavar="SPLIT")
    """Split that the winner is compared with the start on (default: test; of a dataset without
    splits, 30 % of the cases, drawn with the seed)"""
    seed: NotNegative | None = option(None, metavar="N")
    """Seed of the draw, of the order and of each trial's own seed (default: drawn, and recorded)"""
    guarding: Guarding = group(Guarding)
    limits: Limits = group(Limits)
    max_cost: Annotated[float, Meta(gt=0)] | None = option(None, metavar="USD")
    """What the whole sweep may cost, trials on record included (default: no limit)"""
    caching: Caching = group(Caching)
    resume: str | None = option(None, metavar="EXPERIMENT", bare=NEWEST)
    """Continue an interrupted sweep where it was, by the id of one of its experiments (no value:
    the newest unfinished one, with configurations the newest of the same)"""


EXAMPLES = (
    "fairtrial exp sweep base.json warm.json hot.json -d smoke -g exact",
    "fairtrial exp sweep base=base.json short=short.json -d swe -g exact --budget 300",
    "fairtrial exp sweep base.json cand.json -d swe -g exact --guard faq --guard prior",
    "fairtrial exp sweep --resume",
)

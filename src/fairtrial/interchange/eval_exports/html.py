"""HTML: a run of eval tasks on one self-contained page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TextIO

from markupsafe import Markup

from fairtrial.analysis.eval_reading import EvalReading, TrialReading
from fairtrial.analysis.eval_words import (
    isolation_lines,
    session_command,
    task_words,
    trial_name,
)
from fairtrial.interchange.eval_exports.export import (
    EvalExport,
    change_of,
    interval,
    printed_of,
    share,
)
from fairtrial.interchange.experiment_exports.export import timestamp
from fairtrial.interchange.page import csp_hash, environment_of, source_of

TRIALS_SHOWN = 300
"""Trials on the page, so that its size does not grow with the run."""


def write(export: EvalExport, stream: TextIO) -> None:
    """Write the page.

    It makes no request and runs one script of its own, whose hash its content security policy
    names; whatever comes from a trial is text.
    """
    environment = environment_of("eval_exports", "experiment_exports")
    style, script = (source_of(environment, name) for name in ("page.css", "page.js"))
    reading, experiment = export.reading, export.state.experiment
    ks = list(reading.arms[0].metrics.at) if reading.arms else []
    page = environment.get_template("eval.html").stream(
        export=export,
        experiment=experiment,
        totals=export.state.totals,
        status=str(export.state.status),
        created=timestamp(experiment.created_at)[:16].replace("T", " "),
        measures=[f"pass@{k}" for k in ks] + [f"pass^{k}" for k in ks if k > 1],
        arms=list(_arms(reading, ks)),
        names=[arm.arm for arm in reading.arms],
        tasks=list(_tasks(reading)),
        isolation=list(isolation_lines(reading)),
        notes=reading.notes,
        rows=list(_trials(export)),
        n_rows=len(reading.told),
        style=Markup(style),  # noqa: S704  # our own file
        script=Markup(script),  # noqa: S704  # our own file
        style_hash=csp_hash(style),
        script_hash=csp_hash(script),
    )
    stream.writelines(page)
    stream.write("\n")


@dataclass(frozen=True, slots=True)
class _ArmView:
    name: str
    shares: tuple[str, ...]
    interval: str
    flaky: int
    cost: str
    tokens: str


@dataclass(frozen=True, slots=True)
class _TaskView:
    name: str
    passed: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True)
class _TrialView:
    name: str
    verdict: str
    reason: str
    leaks: tuple[str, ...]
    over_limit: bool
    command: str | None
    printed: str | None
    change: str | None


def _arms(reading: EvalReading, ks: list[int]) -> Iterator[_ArmView]:
    for arm in reading.arms:
        metrics = arm.metrics
        yield _ArmView(
            name=arm.arm,
            shares=(
                *(share(metrics.at[k]) for k in ks),
                *(share(metrics.hat[k]) for k in ks if k > 1),
            ),
            interval=interval(arm.rate),
            flaky=metrics.flaky,
            cost="unknown" if arm.cost_usd is None else f"{arm.cost_usd:.4f} USD",
            tokens="–" if arm.tokens is None else f"{arm.tokens:,}",
        )


def _tasks(reading: EvalReading) -> Iterator[_TaskView]:
    for task in reading.tasks:
        counts = (task.arms[arm.arm] for arm in reading.arms)
        passed = tuple(f"{count.passed} / {count.decided}" for count in counts)
        yield _TaskView(task.name, passed, ", ".join(task_words(task)))


def _trials(export: EvalExport) -> Iterator[_TrialView]:
    told = {(one.task, one.arm, one.trial): one for one in export.reading.told}
    for trial in islice(export.unusual(), TRIALS_SHOWN):
        reading: TrialReading = told[trial.key.case_id, trial.key.arm, trial.key.trial]
        yield _TrialView(
            name=trial_name(reading),
            verdict=reading.verdict,
            reason=reading.reason or reading.last_words or "",
            leaks=reading.leaks,
            over_limit=reading.over_limit,
            command=None if reading.session is None else session_command(reading.session),
            printed=printed_of(trial),
            change=change_of(trial),
        )

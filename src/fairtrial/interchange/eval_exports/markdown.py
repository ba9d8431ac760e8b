"""Markdown: a run of eval tasks as a comment, what went wrong folded away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from fairtrial.analysis.eval_reading import TrialReading
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
from fairtrial.interchange.experiment_exports.markdown import MAX_CHARACTERS, block, code, plain
from fairtrial.model.experiment import Status
from fairtrial.model.trial import Trial

MARKER = "<!-- fairtrial:eval -->"
"""The first line, by which a bot finds its earlier comment to replace it."""

_TASKS_SHOWN = 200
_END = 300
_PART = 3_000


def write(export: EvalExport, stream: TextIO) -> None:
    """Write the report, at most `MAX_CHARACTERS` long."""
    text = "\n".join([*_head(export), *_arms(export), *_tasks(export), *_facts(export)]) + "\n"
    stream.write(text)
    budget = MAX_CHARACTERS - len(text) - _END
    told = {(one.task, one.arm, one.trial): one for one in export.reading.told}
    left = len(told)
    if told:
        heading = "\n#### Trials to look at\n"
        stream.write(heading)
        budget -= len(heading)
    for trial in export.unusual():
        key = trial.key
        part = _trial(trial, told[key.case_id, key.arm, key.trial])
        if len(part) > budget:
            break
        stream.write(part)
        budget -= len(part)
        left -= 1
    if left:
        command = code(f"fairtrial exp show {export.state.experiment.id}")
        stream.write(f"\n{left} more are left out; see {command}\n")


def _head(export: EvalExport) -> Iterator[str]:
    experiment, totals = export.state.experiment, export.state.totals
    yield MARKER
    yield f"### Evals {code(export.reading.suite)}: {code(experiment.name)}"
    yield ""
    if export.sentence:
        yield plain(export.sentence)
        yield ""
    yield (
        f"{totals.passed} passed · {totals.failed} failed · {totals.undecided} undecided of "
        f"{totals.recorded} trials · experiment {code(experiment.id)}"
    )
    if export.state.status is not Status.FINISHED:
        yield ""
        yield f"**Not finished**: {totals.recorded} of {experiment.n_planned} trials are on record"


def _arms(export: EvalExport) -> Iterator[str]:
    arms = export.reading.arms
    ks = list(arms[0].metrics.at) if arms else []
    names = [f"pass@{k}" for k in ks] + [f"pass^{k}" for k in ks if k > 1]
    yield ""
    yield "| arm | " + " | ".join(names) + " | flaky tasks | cost | tokens |"
    yield "|---|" + "---:|" * (len(names) + 3)
    for arm in arms:
        metrics = arm.metrics
        shares = [share(metrics.at[k]) for k in ks] + [share(metrics.hat[k]) for k in ks if k > 1]
        cost = "unknown" if arm.cost_usd is None else f"{arm.cost_usd:.4f} USD"
        tokens = "–" if arm.tokens is None else f"{arm.tokens:,}"
        yield (
            f"| {code(arm.arm, 60)} | {' | '.join(shares)} | {metrics.flaky} | {cost} | {tokens} |"
        )
    yield ""
    for arm in arms:
        yield f"- {code(arm.arm, 60)} pass@1: {plain(interval(arm.rate))}"


def _tasks(export: EvalExport) -> Iterator[str]:
    reading = export.reading
    arms = [arm.arm for arm in reading.arms]
    yield ""
    yield "| task | " + " | ".join(code(arm, 60) for arm in arms) + " | |"
    yield "|---|" + "---:|" * len(arms) + "---|"
    for task in reading.tasks[:_TASKS_SHOWN]:
        passed = (f"{task.arms[arm].passed}/{task.arms[arm].decided}" for arm in arms)
        words = plain(", ".join(task_words(task)))
        yield f"| {code(task.name, 100)} | {' | '.join(passed)} | {words} |"
    if len(reading.tasks) > _TASKS_SHOWN:
        yield f"\n{len(reading.tasks) - _TASKS_SHOWN} more tasks are left out."


def _facts(export: EvalExport) -> Iterator[str]:
    yield ""
    for text in isolation_lines(export.reading):
        yield f"- Isolation: {plain(text)}"
    for note in export.reading.notes:
        yield f"- {plain(note)}"


def _trial(trial: Trial, reading: TrialReading) -> str:
    reason = code(reading.reason or reading.verdict, 160)
    parts = ["", f"<details><summary>{code(trial_name(reading), 120)} · {reason}</summary>", ""]
    parts += [f"- leak: {code(leak, 200)}" for leak in reading.leaks]
    parts += ["- ran over its time"] if reading.over_limit else []
    if reading.session:
        parts.append(f"- {code(session_command(reading.session))}")
    for title, text in (("Verifier", printed_of(trial)), ("Change", change_of(trial))):
        if text:
            parts += [
                "",
                f"{title}:",
                "",
                block(text[-_PART:] if title == "Verifier" else text[:_PART]),
            ]
    return "\n".join([*parts, "", "</details>", ""])

"""Markdown: a pull-request comment that says what happened, and folds the rest away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TextIO

from fairtrial.interchange.experiment_exports.export import ExperimentExport, headline, percent
from fairtrial.interchange.experiment_exports.folding import FoldedRow, Outcome, fold, reason_of
from fairtrial.interchange.experiment_exports.visible_text import one_line, preview
from fairtrial.model.experiment import Status
from fairtrial.model.verdict import Verdict

MAX_CHARACTERS = 60_000
"""GitHub refuses a comment over 65,536 characters."""

MARKER = "<!-- fairtrial:experiment -->"
"""The first line, by which a bot finds its earlier comment to replace it."""

_FAILURES_SHOWN = 50
_GRADERS_SHOWN = 100
_OUTPUT_CHARACTERS = 1_000
_REASON_CHARACTERS = 300
_SENTENCE_CHARACTERS = 500
_NOTE_CHARACTERS = 300
_ACTIVE = re.compile(r"[#$&*<>@\[\\\]_`|~]")


def write(export: ExperimentExport, stream: TextIO) -> None:
    """Write the comment, at most `MAX_CHARACTERS` long."""
    text = "\n".join([*_head(export), *_graders(export)]) + "\n"
    stream.write(text)
    budget = MAX_CHARACTERS - len(text) - _NOTE_CHARACTERS
    stream.writelines(_failures(export, budget))


def code(text: str, limit: int = 200) -> str:
    """Return text as inline code on one line, inert in Markdown, in a table and in HTML.

    Every mark that could act is a character reference: no mark-up, mention, link or cell border
    can come of it, which back-ticks alone do not promise inside a table.
    """
    return f"<code>{_ACTIVE.sub(_reference, one_line(text, limit))}</code>"


def block(text: str) -> str:
    """Return text as a code block whose fence no line of it can close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _reference(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


def _head(export: ExperimentExport) -> Iterator[str]:
    experiment, totals = export.state.experiment, export.state.totals
    yield MARKER
    yield f"### {code(experiment.name)}: {plain(headline(export.rate))}"
    yield ""
    facts = [
        f"{totals.passed} passed",
        f"{totals.failed} failed",
        f"{totals.undecided} undecided of {totals.recorded} trials",
        f"{totals.flaky_rows} flaky of {totals.rows} rows",
    ]
    if totals.cost_usd is not None:
        facts.append(f"{totals.cost_usd:.2f} USD")
    yield " · ".join(facts)
    if export.state.status is not Status.FINISHED:
        reason = export.state.status_reason
        yield ""
        yield (
            f"**Not finished** ({totals.recorded} of {experiment.n_planned} trials): "
            f"{export.state.status}" + (f", {code(reason)}" if reason else "")
        )
    if totals.causes:
        causes = (f"{cause} {count}" for cause, count in sorted(totals.causes.items()))
        yield ""
        yield "Trials with a cause other than a grader: " + ", ".join(causes)
    yield ""
    commit = experiment.provenance.git_commit
    yield (
        f"Dataset {code(experiment.on_dataset)}"
        f" · experiment {code(experiment.id)}"
        + (f" · commit {code(commit[:12])}" if commit else "")
    )


def plain(text: str) -> str:
    """Return a sentence of ours that may quote names and reasons of unknown origin."""
    return _ACTIVE.sub(_reference, one_line(text, _SENTENCE_CHARACTERS))


def _graders(export: ExperimentExport) -> Iterator[str]:
    if not export.graders:
        return
    yield ""
    yield "| grader | passed | mean | scored |"
    yield "|---|---:|---:|---:|"
    for totals in export.graders[:_GRADERS_SHOWN]:
        share = percent(totals.passed / totals.scored) if totals.scored else "–"
        mean = "–" if totals.mean is None else f"{totals.mean:.3f}"
        yield f"| {code(totals.grader, 60)} | {share} | {mean} | {totals.scored} / {totals.total} |"
    left = len(export.graders) - _GRADERS_SHOWN
    if left > 0:
        yield f"\n{left} more graders are left out."


def _failures(export: ExperimentExport, budget: int) -> Iterator[str]:
    if not export.state.totals.failed:
        return
    failed = (
        row
        for row in fold(export.trials())
        if row.outcome not in (Outcome.PASSED, Outcome.UNDECIDED)
    )
    shown = 0
    heading = "\n#### Failures\n"
    yield heading
    budget -= len(heading)
    for row in islice(failed, _FAILURES_SHOWN):
        text = _failure(row)
        if len(text) > budget:
            break
        yield text
        budget -= len(text)
        shown += len(row.failed)
    left = export.state.totals.failed - shown
    if left > 0:
        yield (
            f"\n{left} more failed trials are left out; "
            f"see all with {code(f'fairtrial exp show {export.state.experiment.id}')}\n"
        )


def _failure(row: FoldedRow) -> str:
    trial = next(trial for trial in row.trials if trial.verdict is Verdict.FAILED)
    names = f"{code(str(row.key), 100)} · {code(row.arm, 60)}"
    summary = f"{names} · {row.counts} · {code(row.first_reason or '', 100)}"
    parts = [
        "",
        f"<details><summary>{summary}</summary>",
        "",
        block(one_line(reason_of(trial), _REASON_CHARACTERS)),
    ]
    failed = [score for score in trial.scores if score.passed is False]
    parts += [
        f"- {code(score.grader, 60)} {score.value:g}: {code(score.reason or 'no reason', 200)}"
        for score in failed[:5]
        if score.value is not None
    ]
    if trial.output is not None:
        parts += ["", f"Output of trial {trial.key.trial}:", ""]
        parts += [block(preview(trial.output, _OUTPUT_CHARACTERS))]
    return "\n".join([*parts, "", "</details>", ""])

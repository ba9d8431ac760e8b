"""HTML: one self-contained page to read, filter and pass on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from markupsafe import Markup

from fairtrial.interchange.experiment_exports.export import (
    ExperimentExport,
    headline,
    percent,
    timestamp,
)
from fairtrial.interchange.experiment_exports.folding import FoldedRow, Outcome, fold, reason_of
from fairtrial.interchange.experiment_exports.visible_text import preview
from fairtrial.interchange.page import csp_hash, environment_of, source_of
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Cause, Verdict
from fairtrial.stats.proportion import Rate

_ROWS_SHOWN = {
    Outcome.FAILED: 500,
    Outcome.ERROR: 250,
    Outcome.FLAKY: 250,
    Outcome.UNDECIDED: 250,
    Outcome.PASSED: 500,
}
_CAUSES = {
    Cause.TASK: "the task itself failed",
    Cause.LIMIT: "over the time limit",
    Cause.INFRA: "infrastructure",
    Cause.GRADER: "a grader could not answer",
    Cause.UNDECIDABLE: "undecidable",
    Cause.INTERNAL: "a defect of fairtrial",
}
_TRIALS_SHOWN = 5
_OUTPUT_CHARACTERS = 2_000


def write(export: ExperimentExport, stream: TextIO) -> None:
    """Write the page.

    It makes no request and runs one script of its own, whose hash its content security policy
    names; whatever comes from a trial is text. A bounded number of rows of each outcome is on
    it, so its size does not grow with the experiment.
    """
    environment = environment_of("experiment_exports")
    environment.filters |= {"percent": percent}
    style, script = (source_of(environment, name) for name in ("page.css", "page.js"))
    rows, counts = _choose(fold(export.trials()))
    page = environment.get_template("page.html").stream(
        export=export,
        headline=headline(export.rate),
        experiment=export.state.experiment,
        totals=export.state.totals,
        status=str(export.state.status),
        created=timestamp(export.state.experiment.created_at)[:16].replace("T", " "),
        picture=_Picture.of(export.rate),
        causes=[(_CAUSES[cause], n) for cause, n in export.state.totals.causes.items()],
        rows=rows,
        cases={case.key: _CaseView.of(case) for case in export.cases({row.key for row in rows})},
        counts={outcome: counts[outcome] for outcome in _ROWS_SHOWN if counts[outcome]},
        n_rows=counts.total(),
        style=Markup(style),  # noqa: S704  # our own file
        script=Markup(script),  # noqa: S704  # our own file
        style_hash=csp_hash(style),
        script_hash=csp_hash(script),
    )
    stream.writelines(page)
    stream.write("\n")


@dataclass(frozen=True, slots=True)
class _Picture:
    """A pass rate as positions on a scale of 0 to 100, for the picture."""

    estimate: float
    lower: float
    upper: float

    @classmethod
    def of(cls, rate: Rate) -> _Picture | None:
        """Return the picture of a rate; None when there is no rate."""
        if rate.estimate is None or rate.interval is None:
            return None
        shares = (rate.estimate, rate.interval.lower, rate.interval.upper)
        return cls(*(round(100 * share, 2) for share in shares))


@dataclass(frozen=True, slots=True)
class _CaseView:
    input: str
    expected: str | None

    @classmethod
    def of(cls, case: Case) -> _CaseView:
        """Return what the page shows of a case."""
        return cls(
            input=preview(case.input, _OUTPUT_CHARACTERS),
            expected=None if case.expected is None else preview(case.expected, _OUTPUT_CHARACTERS),
        )


@dataclass(frozen=True, slots=True)
class _TrialView:
    number: int
    verdict: str
    reason: str | None
    scores: tuple[tuple[str, str, str, str], ...]
    output: str | None
    stderr: str | None
    duration: str
    cost: str | None

    @classmethod
    def of(cls, trial: Trial) -> _TrialView:
        """Return what the page shows of a trial."""
        return cls(
            number=trial.key.trial,
            verdict=str(trial.verdict),
            reason=reason_of(trial) if trial.reason or trial.cause else None,
            scores=tuple(
                (
                    score.grader,
                    "–" if score.value is None else f"{score.value:g}",
                    {True: "passed", False: "failed", None: "undecided"}[score.passed],
                    score.reason or "",
                )
                for score in trial.scores
            ),
            output=None if trial.output is None else preview(trial.output, _OUTPUT_CHARACTERS),
            stderr=_stderr(trial),
            duration=_duration(trial.duration_s),
            cost=None if trial.cost_usd is None else f"{trial.cost_usd:.4f} USD",
        )


@dataclass(frozen=True, slots=True)
class _RowView:
    key: CaseKey
    name: str
    arm: str
    outcome: str
    counts: str
    reason: str
    duration: str
    trials: tuple[_TrialView, ...]
    left_out: int

    @classmethod
    def of(cls, row: FoldedRow) -> _RowView:
        """Return what the page shows of a row."""
        return cls(
            key=row.key,
            name=str(row.key),
            arm=row.arm,
            outcome=str(row.outcome),
            counts=row.counts,
            reason=row.first_reason or "",
            duration=_mean_duration(row),
            trials=tuple(_TrialView.of(trial) for trial in row.trials[:_TRIALS_SHOWN]),
            left_out=max(0, len(row.trials) - _TRIALS_SHOWN),
        )


def _choose(rows: Iterator[FoldedRow]) -> tuple[list[_RowView], Counter[Outcome]]:
    """Return the rows on the page, what failed first, and how many there are of each outcome."""
    counts: Counter[Outcome] = Counter()
    chosen: dict[Outcome, list[_RowView]] = {outcome: [] for outcome in _ROWS_SHOWN}
    for row in rows:
        outcome = row.outcome
        counts[outcome] += 1
        if counts[outcome] <= _ROWS_SHOWN[outcome]:
            chosen[outcome].append(_RowView.of(row))
    return [row for outcome in _ROWS_SHOWN for row in chosen[outcome]], counts


def _stderr(trial: Trial) -> str | None:
    """Return the end of a program's standard error, unless its trial passed."""
    if trial.verdict is Verdict.PASSED or trial.process is None:
        return None
    tail = trial.process.stderr_tail.strip()
    return preview(tail[-_OUTPUT_CHARACTERS:], _OUTPUT_CHARACTERS) if tail else None


def _mean_duration(row: FoldedRow) -> str:
    times = [trial.duration_s for trial in row.trials if trial.duration_s is not None]
    return _duration(sum(times) / len(times) if times else None)


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    if seconds < 0.001:
        return "< 1 ms"
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"

"""JUnit XML: one testsuite an arm, one testcase a row, as CI systems read it."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from typing import IO, TextIO
from xml.sax.saxutils import escape, quoteattr

from fairtrial.interchange.experiment_exports.export import ExperimentExport
from fairtrial.interchange.experiment_exports.folding import FoldedRow, Outcome, fold, reason_of
from fairtrial.interchange.experiment_exports.visible_text import one_line, preview, visible
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Verdict
from fairtrial.stats.proportion import Rate

_REASON_CHARACTERS = 500
_OUTPUT_CHARACTERS = 2_000
_TRIALS_SHOWN = 10
_SPOOL_BYTES = 1 << 22

_ELEMENTS = {
    Outcome.FAILED: "failure",
    Outcome.FLAKY: "failure",
    Outcome.ERROR: "error",
    Outcome.UNDECIDED: "skipped",
}


def write(export: ExperimentExport, stream: TextIO) -> None:
    """Write an experiment's rows.

    A row that failed in any trial is a `failure`; an `error` when the task itself crashed or ran
    out of time and no trial passed; `skipped` when no trial has a verdict.
    """
    experiment = export.state.experiment
    suites = {arm: _Suite() for arm in experiment.arms}
    try:
        for row in fold(export.trials()):
            if row.arm not in suites:
                suites[row.arm] = _Suite()
            suites[row.arm].add(row, experiment.dataset)
        _write_document(export, suites, stream)
    finally:
        for suite in suites.values():
            suite.body.close()


class _Suite:
    """One arm's testcases, kept aside because their counts come first in the file."""

    def __init__(self) -> None:
        self.body: IO[str] = tempfile.SpooledTemporaryFile(  # noqa: SIM115  # `write` closes it
            _SPOOL_BYTES, "w+", encoding="utf-8", newline=""
        )
        self.counts: Counter[str] = Counter()
        self.time = 0.0

    def add(self, row: FoldedRow, dataset: str) -> None:
        """Write a row's testcase."""
        outcome = row.outcome
        element = _ELEMENTS.get(outcome)
        times = [trial.duration_s for trial in row.trials if trial.duration_s is not None]
        self.time += sum(times)
        self.counts["tests"] += 1
        self.counts[element or "passed"] += 1
        attributes = {
            "classname": visible(f"{dataset}.{row.arm}"),
            "name": visible(str(row.key)),
        }
        if times:
            attributes["time"] = f"{sum(times):.3f}"
        case = f"    {tag('testcase', attributes)}"
        if element:
            message = f"{row.counts}: {one_line(row.first_reason or '', _REASON_CHARACTERS)}"
            details = {"message": message}
            if element != "skipped":
                details["type"] = str(outcome)
            case += f"{tag(element, details)}{escape(_details(row))}</{element}>"
        self.body.write(f"{case}</testcase>\n")


def _details(row: FoldedRow) -> str:
    shown = [trial for trial in row.trials if trial.verdict is not Verdict.PASSED]
    parts = [_trial_text(trial) for trial in shown[:_TRIALS_SHOWN]]
    left = len(shown) - _TRIALS_SHOWN
    if left > 0:
        parts.append(f"… and {left} more trials")
    return "\n\n".join(parts)


def _trial_text(trial: Trial) -> str:
    reason = one_line(reason_of(trial), _REASON_CHARACTERS)
    lines = [f"trial {trial.key.trial}: {trial.verdict}, {reason}"]
    lines += [
        f"  {one_line(score.grader, 100)}: {'none' if score.value is None else score.value} "
        f"{one_line(score.reason or '', _REASON_CHARACTERS)}".rstrip()
        for score in trial.scores
        if not score.passed
    ]
    if trial.output is not None:
        lines.append(f"  output: {preview(trial.output, _OUTPUT_CHARACTERS)}")
    return "\n".join(lines)


def _write_document(export: ExperimentExport, suites: dict[str, _Suite], stream: TextIO) -> None:
    experiment = export.state.experiment
    totals = sum((suite.counts for suite in suites.values()), Counter[str]())
    time = sum(suite.time for suite in suites.values())
    named = {"name": visible(experiment.name), **_counts(totals, time)}
    stream.write(f'<?xml version="1.0" encoding="utf-8"?>\n{tag("testsuites", named)}\n')
    for number, (arm, suite) in enumerate(suites.items()):
        attributes = {
            "name": visible(f"{experiment.name}.{arm}"),
            "id": str(number),
            **_counts(suite.counts, suite.time),
            "skipped": str(suite.counts["skipped"]),
            "timestamp": f"{experiment.created_at:%Y-%m-%dT%H:%M:%S}",
            "hostname": visible(experiment.provenance.host),
        }
        stream.write(f"  {tag('testsuite', attributes)}\n    <properties>\n")
        for name, value in _properties(export, arm).items():
            both = {"name": name, "value": visible(value)}
            stream.write(f"      {tag('property', both)}</property>\n")
        stream.write("    </properties>\n")
        suite.body.seek(0)
        shutil.copyfileobj(suite.body, stream)
        stream.write("  </testsuite>\n")
    stream.write("</testsuites>\n")


def tag(name: str, attributes: dict[str, str]) -> str:
    """Return an opening tag; every value is visible text already, so it is legal in XML."""
    return f"<{name}{''.join(f' {key}={quoteattr(text)}' for key, text in attributes.items())}>"


def _counts(counts: Counter[str], time: float) -> dict[str, str]:
    return {
        "tests": str(counts["tests"]),
        "failures": str(counts["failure"]),
        "errors": str(counts["error"]),
        "time": f"{time:.3f}",
    }


def _properties(export: ExperimentExport, arm: str) -> dict[str, str]:
    experiment = export.state.experiment
    properties = {
        "experiment": experiment.id,
        "status": str(export.state.status),
        "arm": arm,
        "dataset": experiment.dataset_ref,
        "dataset_digest": experiment.dataset_digest,
        "trials": str(experiment.trials),
        "seed": str(experiment.seed),
        "fairtrial": experiment.provenance.fairtrial,
        **_rate_properties(export.rate),
    }
    if experiment.provenance.git_commit:
        properties["commit"] = experiment.provenance.git_commit
    return properties


def _rate_properties(rate: Rate) -> dict[str, str]:
    if rate.estimate is None:
        return {"pass_rate_missing": rate.reason}
    if rate.interval is None:
        return {"pass_rate": f"{rate.estimate:.6g}", "pass_rate_method": rate.method}
    return {
        "pass_rate": f"{rate.estimate:.6g}",
        "pass_rate_lower": f"{rate.interval.lower:.6g}",
        "pass_rate_upper": f"{rate.interval.upper:.6g}",
        "pass_rate_method": rate.method,
    }

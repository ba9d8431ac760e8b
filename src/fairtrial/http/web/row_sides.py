"""One row as several experiments have it, in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairtrial.app.bench import Bench
from fairtrial.app.exp_show import exp_show
from fairtrial.app.experiment_page import row_key
from fairtrial.app.reports.case import CaseReport
from fairtrial.app.requests.exp_show import Request as ShowRequest
from fairtrial.app.row_keys import key_text
from fairtrial.http.web.diffs import Diff, diff_of
from fairtrial.http.web.experiment_words import Chip
from fairtrial.http.web.row_words import Preview, TrialView, preview, trial_view, trials_chip
from fairtrial.http.web.words import text_of
from fairtrial.model.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class Side:
    """An experiment that has the row.

    Attributes:
        id: Its id.
        arm: The arm.
        label: What to call it.
        title: What it is beside the others; empty when nothing in particular.
    """

    id: str
    arm: str
    label: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class SideView:
    """One side of a row.

    Attributes:
        of: The experiment.
        key: What names the row there in an address.
        verdict: How its trials ended; None when it did not run the row.
        trials: Each of them.
        removed: Whether its outputs were removed.
    """

    of: Side
    key: str
    verdict: Chip | None
    trials: list[TrialView]
    removed: bool


@dataclass(frozen=True, slots=True)
class RowPanel:
    """A row of all sides in full.

    Attributes:
        case_id: The case.
        condition: Its condition.
        input: The case's input; None when it is not in this store.
        expected: What was expected.
        payloads: Where its input and what was expected are, in full.
        sides: The experiments.
        diff: What differs between the first outputs of two; None otherwise.
    """

    case_id: str
    condition: str
    input: Preview | None
    expected: Preview | None
    payloads: SideView
    sides: Sequence[SideView]
    diff: Diff | None


def row_panel(bench: Bench, sides: Sequence[Side], text: str) -> RowPanel:
    """Return a row as all sides have it; the last one's case is shown.

    Raises:
        NotFoundError: none of them has it.
        UsageError: the text names no row.
    """
    case_id, condition, _ = row_key(text)
    reports = [_case(bench, side.id, case_id) for side in sides]
    views = [
        _side(side, report, case_id, condition) for side, report in zip(sides, reports, strict=True)
    ]
    having = [place for place, view in enumerate(views) if view.trials]
    if not having:
        raise NotFoundError(
            "none of these experiments has such a row",
            where=f"{case_id} under {condition}",
            fix="open it from the table",
        )
    last = reports[having[-1]]
    cases = () if last is None else last.cases
    case = next((one for one in cases if one.condition == condition), None)
    outputs = [view.trials[0].trial.output for view in views if view.trials and not view.removed]
    both = len(outputs) == len(sides) == 2
    return RowPanel(
        case_id=case_id,
        condition=condition,
        input=None if case is None else preview(case.input),
        expected=None if case is None or case.expected is None else preview(case.expected),
        payloads=views[having[-1]],
        sides=views,
        diff=diff_of(text_of(outputs[0]), text_of(outputs[1])) if both else None,
    )


def _case(bench: Bench, ref: str, case_id: str) -> CaseReport | None:
    """Return a case in an experiment; None when it was not run there."""
    try:
        report = exp_show(bench, ShowRequest(ref, case=case_id))
    except NotFoundError:
        return None
    return report if isinstance(report, CaseReport) else None


def _side(side: Side, report: CaseReport | None, case_id: str, condition: str) -> SideView:
    trials = [
        trial
        for trial in (() if report is None else report.trials)
        if trial.key.condition == condition and trial.key.arm == side.arm
    ]
    return SideView(
        of=side,
        key=key_text((case_id, condition, side.arm)),
        verdict=trials_chip(trials),
        trials=[trial_view(trial) for trial in trials],
        removed=report is not None and report.outputs_removed,
    )

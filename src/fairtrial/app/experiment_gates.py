"""What a release gate says on an experiment's page: each rule's value, and who broke it.

A large experiment that has ended is judged once; what came of it is kept.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.gate_chips import (
    LATER,
    TESTING,
    UNKNOWN,
    BaselineNow,
    GateChips,
    gate_ground,
    gate_key,
)
from fairtrial.app.gate_rules import Rules
from fairtrial.app.kept_facts import kept, looked_up
from fairtrial.app.release_gate import judge
from fairtrial.app.reports.gate import GateReport, GateView, RuleView
from fairtrial.model.errors import FairtrialError
from fairtrial.model.experiment import ExperimentState, Status
from fairtrial.model.json import Json

_SMALL: Final = 5_000
"""Rows of an experiment that is judged whenever it is looked at."""
_ROWS: Final = 500
"""Rows of a rule that are kept."""


def gate_view(
    bench: Bench,
    state: ExperimentState,
    baseline: BaselineNow | None,
    *,
    given: bool,
    now: bool = True,
) -> GateView | None:
    """Return what the rules that hold for an experiment say; None without any.

    Args:
        bench: The workbench.
        state: The experiment.
        baseline: What it is compared with; None when there is nothing.
        given: Whether somebody chose that for this look.
        now: Whether a large one is judged if it was not before; else it is said to be for later.
    """
    try:
        rules = GateChips(bench).rules(state.experiment)
        if rules is None:
            return None
        chosen = baseline[0] if given and baseline is not None else None
        found = _view(bench, state, rules, _Look(baseline, chosen, now))
        return GateView(LATER, (), rules[1], ()) if found is None else found
    except FairtrialError as error:
        return GateView(UNKNOWN, (error.what,), "", ())


@dataclass(frozen=True, slots=True)
class _Look:
    """What a view is held against, what of it was chosen for this look, and whether to judge."""

    baseline: BaselineNow | None
    chosen: str | None
    now: bool


def _view(
    bench: Bench, state: ExperimentState, rules: tuple[Rules, str], look: _Look
) -> GateView | None:
    """Return what the rules say; None when that takes long and is not wanted now."""
    running = state.status is Status.RUNNING and not state.died
    if state.totals.rows <= _SMALL:
        return _judged(judge(bench, state, rules, given=look.chosen), running=running)
    if running:
        return GateView(TESTING, (), rules[1], ())
    ground = gate_ground(state, rules[0], look.baseline)
    if look.chosen is not None:
        key = ("gate", ground, look.chosen)
        known: GateView | None = bench.memory.get(key)
        if known is None and look.now:
            known = _judged(judge(bench, state, rules, given=look.chosen), running=False)
            bench.memory.keep(key, known)
        return known
    found = looked_up(bench, gate_key(state), ground)
    if found is None and look.now:
        found = kept(
            bench,
            gate_key(state),
            ground,
            lambda: asdict(_judged(judge(bench, state, rules), running=False)),
        )
    return None if found is None else _kept(found)


def _judged(report: GateReport, *, running: bool) -> GateView:
    rules = tuple(
        RuleView(
            name=result.name,
            passed=result.passed,
            shown=result.shown,
            reason=result.reason,
            n_rows=len(result.rows),
            rows=tuple((row.case_id, row.condition, report.arm) for row in result.rows[:_ROWS]),
        )
        for result in report.results
    )
    standing = TESTING if running else report.decision.outcome.value
    return GateView(standing, report.decision.reasons, report.rules_of, rules)


def _kept(view: Json) -> GateView:
    rules = tuple(
        RuleView(**{**rule, "rows": tuple(map(tuple, rule["rows"]))}) for rule in view["rules"]
    )
    return GateView(view["standing"], tuple(view["reasons"]), view["rules_of"], rules)

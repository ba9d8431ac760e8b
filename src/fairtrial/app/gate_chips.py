"""Where experiments stand at the release gate, in a word each: for lists."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Final, TypeAlias

from fairtrial.app.bench import Bench
from fairtrial.app.gate_rules import Rules, gate_rules
from fairtrial.app.kept_facts import ground_of, looked_up
from fairtrial.app.release_gate import grader_names, judge, project_rules
from fairtrial.app.reports.gate import GateChip
from fairtrial.model.baseline import AgainstBaseline
from fairtrial.model.errors import FairtrialError
from fairtrial.model.experiment import Experiment, ExperimentState, Status

NONE: Final = "none"
TESTING: Final = "testing"
UNKNOWN: Final = "unknown"
LATER: Final = "later"
"""A large experiment whose gate was not looked at yet: that takes seconds."""
BaselineNow: TypeAlias = tuple[str, datetime]
"""The id of a baseline, and when anything of it was last recorded."""
_ROWS: Final = 20_000
"""Rows that the gates of a list look at, all together: a list is there at once."""


def gate_key(state: ExperimentState) -> str:
    """Return under what the view of a large experiment's gate is kept."""
    return f"gate-of:{state.experiment.id}"


def gate_ground(state: ExperimentState, rules: Rules, baseline: BaselineNow | None) -> str:
    """Return what such a view rests on."""
    told = None if baseline is None else [baseline[0], baseline[1].isoformat()]
    return ground_of(state, rules=[dict(rule) for _, rule in rules], baseline=told)


def baseline_now(against: AgainstBaseline) -> BaselineNow | None:
    """Return which baseline an experiment is held against, and when it was last changed."""
    if against.id is None or against.changed_at is None:
        return None
    return against.id, against.changed_at


class GateChips:
    """Holds experiments against their own rules, or else the project's."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._rows = _ROWS

    def of(self, state: ExperimentState, baseline: BaselineNow | None) -> GateChip:
        """Return where an experiment stands.

        Args:
            state: The experiment.
            baseline: What it is compared with; None when there is nothing.
        """
        try:
            rules = self.rules(state.experiment)
        except FairtrialError as error:
            return GateChip(UNKNOWN, error.what)
        if rules is None:
            return GateChip(NONE)
        if state.status is Status.RUNNING and not state.died:
            return GateChip(TESTING, "the release gate is decided at the end")
        return self._judged(state, rules, baseline)

    def _judged(
        self, state: ExperimentState, rules: tuple[Rules, str], baseline: BaselineNow | None
    ) -> GateChip:
        """Return what rules say, as it was kept where there is much to look at."""
        ground = gate_ground(state, rules[0], baseline)
        known: GateChip | None = self._bench.memory.get(("chip", ground))
        if known is not None:
            return known
        found = looked_up(self._bench, gate_key(state), ground)
        if found is not None:
            chip = GateChip(found["standing"], next(iter(found["reasons"]), None))
            return self._bench.memory.keep(("chip", ground), chip)
        self._rows -= state.totals.rows
        if self._rows < 0:
            return GateChip(UNKNOWN, "too many rows to judge in a list; its own page does")
        try:
            decision = judge(self._bench, state, rules).decision
        except FairtrialError as error:
            return GateChip(UNKNOWN, error.what)
        chip = GateChip(decision.outcome.value, next(iter(decision.reasons), None))
        return self._bench.memory.keep(("chip", ground), chip)

    def rules(self, experiment: Experiment) -> tuple[Rules, str] | None:
        """Return the rules that hold for an experiment and whose they are; None without any.

        Raises:
            UsageError: a rule does not fit.
        """
        if experiment.measured:
            return None
        own = experiment.spec.get("gate")
        graders = grader_names(experiment)
        if own:
            return gate_rules(own, "the experiment's rules", graders), "spec"
        if not self._project_has_rules:
            return None
        return project_rules(self._bench, graders), "project"

    @cached_property
    def _project_has_rules(self) -> bool:
        return bool(project_rules(self._bench))

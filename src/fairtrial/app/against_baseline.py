"""What experiments fixed and broke against their baselines, for a summary or a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from fairtrial.analysis.baseline import choose_baseline
from fairtrial.analysis.comparing.comparability import Input, why_no_flips
from fairtrial.app.baselines import own_baseline, project_baseline
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm
from fairtrial.app.kept_facts import ground_of, kept, looked_up, standing_of
from fairtrial.app.older import Older
from fairtrial.model.baseline import AgainstBaseline
from fairtrial.model.comparison import FlipCounts
from fairtrial.model.experiment import ExperimentState, Status

if TYPE_CHECKING:
    from fairtrial.app.reports.experiment import ExperimentReport

_LOOKED_AT = 100
"""Older experiments of its dataset among which a list looks for an experiment's baseline."""
_SMALL = 5_000
"""Rows that are counted whenever they are asked for."""
_ROWS = 20_000
"""Rows that a list counts, all its experiments together: a list is there at once."""


def with_baseline(bench: Bench, report: ExperimentReport) -> ExperimentReport:
    """Return a report with what its experiment fixed and broke against its baseline."""
    return replace(report, vs_baseline=FlipCounter(bench).of(report.state))


class FlipCounter:
    """Counts flips against baselines; what several experiments share is read once.

    The baseline is that of a comparison: the first arm of an experiment of several, else the
    one it was given, else the project's, else the newest earlier finished one of the same kind.
    """

    def __init__(
        self,
        bench: Bench,
        listed: Sequence[ExperimentState] = (),
        *,
        in_a_list: bool = False,
        keep: bool = False,
        older: Older | None = None,
    ) -> None:
        """Begin.

        Args:
            bench: The workbench.
            listed: Experiments that are known, newest first, without a gap between them.
            in_a_list: Give up where there is too much to count.
            keep: Keep what took a look at many rows.
            older: Reads what is older, where others want to know it, too.
        """
        self._bench = bench
        self._keep = keep
        self._rows = _ROWS if in_a_list else None
        self._looked_at = _LOOKED_AT if in_a_list else None
        self._older = Older(bench, listed) if older is None else older

    def of(self, state: ExperimentState, given: ExperimentState | None = None) -> AgainstBaseline:
        """Return what an experiment fixed and broke; of several, ask for the newest first.

        Args:
            state: The experiment.
            given: Its baseline; None finds one.
        """
        experiment = state.experiment
        if experiment.measured:
            return AgainstBaseline(None, None, None, None, "it measures commands")
        if experiment.spec.get("cells"):
            return AgainstBaseline(None, None, None, None, "each cell has its own")
        mine = ChosenArm(state, experiment.arms[-1])
        if len(experiment.arms) > 1 and given is None:
            first = ChosenArm(state, experiment.arms[0])
            return self._counted(first, mine, (first.arm, mine.arm))
        found = self._baseline(state) if given is None else given
        if isinstance(found, str):
            return AgainstBaseline(None, None, None, None, found)
        baseline = ChosenArm(found, found.experiment.arms[-1])
        return self._counted(baseline, mine, ("the baseline", "it"))

    @cached_property
    def _project(self) -> ExperimentState | None:
        return project_baseline(self._bench)

    def _baseline(self, state: ExperimentState) -> ExperimentState | str:
        """Return the baseline of an experiment, or why there is none."""
        own = own_baseline(self._bench, state)
        if own is not None:
            return own
        older = self._older.than(state)
        found = choose_baseline(state, self._project, islice(older, self._looked_at))
        if found.state is not None:
            return found.state
        if next(older, None) is not None:
            return f"no baseline among the {_LOOKED_AT} experiments before it"
        return found.sentence

    def _counted(self, a: ChosenArm, b: ChosenArm, labels: tuple[str, str]) -> AgainstBaseline:
        reason = why_no_flips(Input(*a, labels[0]), Input(*b, labels[1]))
        flips = None if reason is not None else self._known(a, b)
        if reason is None and flips is None:
            reason = "too many cases to count them in a list; exp show does"
        if flips is not None and not flips.compared:
            flips, reason = None, "no case has a verdict in both"
        changed_at = a.state.heartbeat_at
        return AgainstBaseline(a.experiment.id, a.experiment.name, a.arm, flips, reason, changed_at)

    def _known(self, a: ChosenArm, b: ChosenArm) -> FlipCounts | None:
        """Return the counts of two arms; None where they are too much for a list."""
        memory = self._bench.memory
        key = ("flips", a.key, b.key, standing_of(a.state), standing_of(b.state))
        flips: FlipCounts | None = memory.get(key)
        if flips is None and b.state.totals.rows > _SMALL:
            flips = self._kept(a, b)
        if flips is None:
            if self._rows is not None:
                self._rows -= b.state.totals.rows
                if self._rows < 0:
                    return None
            flips = self._bench.store.experiments.flip_counts(a.key, b.key)
        return memory.keep(key, flips) if _ended(a, b) else flips

    def _kept(self, a: ChosenArm, b: ChosenArm) -> FlipCounts | None:
        """Return the counts of large arms when they were kept, or are to be."""
        key = f"flips:{':'.join(a.key)}:{':'.join(b.key)}"
        ground = ground_of(a.state, b.state)
        if self._keep and _ended(a, b):
            count = self._bench.store.experiments.flip_counts
            found = kept(self._bench, key, ground, lambda: asdict(count(a.key, b.key)))
        else:
            found = looked_up(self._bench, key, ground)
        return FlipCounts(**found) if found else None


def _ended(*arms: ChosenArm) -> bool:
    return all(arm.state.status is not Status.RUNNING for arm in arms)

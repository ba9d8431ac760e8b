"""An improvement loop from stored experiments: which ones, and what each came to."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from fairtrial.analysis.comparing.comparability import Input, why_no_flips
from fairtrial.analysis.loop_rounds import Version
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm, find_arm
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import ExperimentState, Status
from fairtrial.ports import EVERY_ROW, RowQuery

_PAGE = 50
MOST_ROUNDS = 500
"""Rounds that are read, the newest ones: more than that no loop has."""


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody says of versions, by the ids of their experiments."""

    accepted: frozenset[str] = field(default_factory=frozenset)
    rejected: frozenset[str] = field(default_factory=frozenset)

    def of(self, experiment_id: str) -> bool | None:
        """Return whether the loop kept a version; None when nobody said."""
        if experiment_id in self.accepted:
            return True
        return False if experiment_id in self.rejected else None


def arms_of_series(bench: Bench, series: str) -> list[ChosenArm]:
    """Return the experiments of a series, oldest first; of several arms the last."""
    return [_last(state) for state in _all(bench, series=series)]


def arms_on_dataset(bench: Bench, dataset: str, version: int | None) -> list[ChosenArm]:
    """Return the finished runs of one arm on a dataset, or on one version of it, oldest first."""
    return [
        _last(state)
        for state in _all(bench, dataset=dataset)
        if state.status is Status.FINISHED
        and state.experiment.regrade_of is None
        and len(state.experiment.arms) == 1
        and version in (None, state.experiment.dataset_number)
    ]


def _all(
    bench: Bench, *, dataset: str | None = None, series: str | None = None
) -> Sequence[ExperimentState]:
    found: list[ExperimentState] = []
    before: str | None = None
    while len(found) < MOST_ROUNDS:
        page = bench.store.experiments.newest(_PAGE, before, dataset, series)
        found += [state for state in page if not state.experiment.measured]
        if len(page) < _PAGE:
            break
        before = page[-1].experiment.id
    return found[::-1]


def _last(state: ExperimentState) -> ChosenArm:
    return ChosenArm(state, state.experiment.arms[-1])


def from_baseline(bench: Bench, arms: Sequence[ChosenArm], ref: str) -> list[ChosenArm]:
    """Return the arms from a baseline on, which is put first when it is not among them.

    Raises:
        NotFoundError: there is no such experiment.
        UsageError: it has several arms, and none is named.
    """
    base = find_arm(bench, ref)
    for place, arm in enumerate(arms):
        if arm.key == base.key:
            return list(arms[place:])
    later = [arm for arm in arms if arm.experiment.id > base.experiment.id]
    return [base, *later]


def versions_of(bench: Bench, arms: Sequence[ChosenArm], said: Said | None = None) -> list[Version]:
    """Return each version with its cases, or why it cannot be a round.

    What is held against the others must be graded alike: the first one that can be used decides.
    """
    digests: dict[str, Mapping[int, tuple[Hashable, ...]]] = {}
    found: list[Version] = []
    first: ChosenArm | None = None
    for arm in arms:
        reason = _unusable(first, arm)
        if reason is None and first is None:
            first = arm
        cases = {} if reason is not None else _cases(bench, arm, digests)
        accepted = None if said is None else said.of(arm.experiment.id)
        found.append(Version(arm.experiment.id, arm.label, cases, accepted, reason))
    return found


def _unusable(first: ChosenArm | None, arm: ChosenArm) -> str | None:
    if arm.state.status is not Status.FINISHED:
        return f"it is {arm.state.status.value}"
    if first is None:
        return None
    if first.experiment.dataset != arm.experiment.dataset:
        return f"it ran on {arm.experiment.dataset}, the loop on {first.experiment.dataset}"
    return why_no_flips(Input(*first, first.label), Input(*arm, arm.label))


def _cases(
    bench: Bench, arm: ChosenArm, known: dict[str, Mapping[int, tuple[Hashable, ...]]]
) -> dict[Hashable, tuple[int, int]]:
    """Return passed and decided trials of each case, which is another one with another content."""
    experiment = arm.experiment
    ref = f"{experiment.dataset}@{experiment.dataset_number}"
    if ref not in known:
        outlines = bench.store.datasets.outline(bench.store.datasets.version(ref))
        known[ref] = {o.position: (o.id, o.condition, o.digest) for o in outlines}
    positions = bench.store.experiments.positions(experiment.id)
    keys = {known[ref][p][:2]: known[ref][p] for p in positions}
    rows = bench.store.experiments.rows(experiment.id, RowQuery(limit=EVERY_ROW, arm=arm.arm))
    return {
        keys[row.key.case_id, row.key.condition]: (row.passed, row.decided)
        for row in rows
        if row.decided
    }


def ids_of(bench: Bench, refs: Sequence[str]) -> frozenset[str]:
    """Return the ids of experiments.

    Raises:
        NotFoundError: one does not exist.
    """
    return frozenset(bench.store.experiments.find(ref).experiment.id for ref in refs)


def check_once(arms: Sequence[ChosenArm]) -> None:
    """Refuse a version that is named twice: what is measured once is no further round.

    Raises:
        UsageError: there is one.
    """
    seen: set[tuple[str, str]] = set()
    for arm in arms:
        if arm.key in seen:
            why = "a round is a measurement of its own"
            raise UsageError(f"{arm.label} is named twice", why=why, fix="name it once")
        seen.add(arm.key)


def check_said(said: Said, arms: Sequence[ChosenArm]) -> None:
    """Refuse what cannot be said: of no version of the loop, or that one was kept and dropped.

    Raises:
        UsageError: there is such a thing.
    """
    there = {arm.experiment.id for arm in arms}
    for flag, ids in (("--accepted", said.accepted), ("--rejected", said.rejected)):
        if ids - there:
            fix = "name a version that it has"
            raise UsageError(f"{min(ids - there)} is not in the loop", where=flag, fix=fix)
    both = said.accepted & said.rejected
    if both:
        raise UsageError(f"{min(both)} is accepted and rejected", fix="say one of the two")

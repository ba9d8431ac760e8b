"""Which arm of which experiment is meant: `EXPERIMENT`, or `EXPERIMENT:ARM`."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from fairtrial.app.baselines import baseline_of
from fairtrial.app.bench import Bench
from fairtrial.model.baseline import Baseline
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.experiment import Experiment, ExperimentState


class ChosenArm(NamedTuple):
    """One arm of a stored experiment."""

    state: ExperimentState
    arm: str

    @property
    def experiment(self) -> Experiment:
        """The experiment it belongs to."""
        return self.state.experiment

    @property
    def key(self) -> tuple[str, str]:
        """The experiment's id and the arm's name, as the store takes them."""
        return self.experiment.id, self.arm

    @property
    def ref(self) -> str:
        """What names it on a command line for good."""
        return self.experiment.id if len(self.experiment.arms) == 1 else ":".join(self.key)

    @property
    def label(self) -> str:
        """What a report calls it."""
        several = len(self.experiment.arms) > 1
        return f"{self.experiment.name}:{self.arm}" if several else self.experiment.name


def experiment_and_arm(bench: Bench, ref: str) -> tuple[ExperimentState, str | None]:
    """Return the experiment that a reference names, and the arm if it names one.

    A name may hold a colon itself, so the whole is looked for first.

    Raises:
        NotFoundError: there is no such experiment.
        UsageError: it has no such arm, or measures commands and judges nothing.
    """
    store = bench.store.experiments
    try:
        state, named = store.find(ref), None
    except NotFoundError:
        found = _split(bench, ref)
        if found is None:
            raise
        state, named = found
    experiment = state.experiment
    if experiment.measured:
        raise UsageError(
            f"{experiment.name} measures commands and has no verdicts to compare",
            fix=f"read it with: fairtrial exp show {experiment.id}",
        )
    if named is not None and named not in experiment.arms:
        raise UsageError(
            f"{experiment.name} has no arm {named or '(empty)'}",
            why=f"its arms: {', '.join(experiment.arms)}",
            fix="say which: " + shlex.quote(f"{experiment.name}:{experiment.arms[-1]}"),
        )
    return state, named


def _split(bench: Bench, ref: str) -> tuple[ExperimentState, str] | None:
    """Return the experiment that the longest part before a colon names, and the arm behind it."""
    error: NotFoundError | None = None
    for at in sorted((at for at, letter in enumerate(ref) if letter == ":"), reverse=True):
        try:
            return bench.store.experiments.find(ref[:at]), ref[at + 1 :]
        except NotFoundError as missing:
            error = error or missing
    if error is not None:
        raise error
    return None


def find_arm(bench: Bench, ref: str) -> ChosenArm:
    """Return the arm that `EXPERIMENT:ARM` names, or `EXPERIMENT` when it has only one.

    Raises:
        NotFoundError: there is no such experiment.
        UsageError: it has no such arm or several, or measures commands and judges nothing.
    """
    state, named = experiment_and_arm(bench, ref)
    experiment = state.experiment
    if named is None and len(experiment.arms) > 1:
        raise UsageError(
            f"{experiment.name} has several arms",
            why=f"its arms: {', '.join(experiment.arms)}",
            fix="say which: " + shlex.quote(f"{experiment.name}:{experiment.arms[-1]}"),
        )
    return ChosenArm(state, experiment.arms[0] if named is None else named)


def baseline_arm(
    bench: Bench, mine: ChosenArm, given: str | None = None
) -> tuple[ChosenArm | None, Baseline | None]:
    """Return what an arm is compared with when nobody says, and how it was found.

    The first arm of an experiment of several is the baseline of the others, and then nothing was
    looked for.

    Raises:
        NotFoundError: the given one does not exist.
        UsageError: the given one is the experiment itself, or holds its outputs.
    """
    first = mine.experiment.arms[0]
    if given is None and mine.arm != first:
        return ChosenArm(mine.state, first), None
    found = baseline_of(bench, mine.state, given)
    if found.state is None:
        return None, found
    return ChosenArm(found.state, found.state.experiment.arms[-1]), found


def arms_to_compare(
    bench: Bench, a: str, b: str | None
) -> tuple[ChosenArm, ChosenArm, Baseline | None]:
    """Return A and B; with one reference alone, its two arms, or its baseline and itself.

    Raises:
        NotFoundError: there is no such experiment, or no baseline.
        UsageError: an arm is not named or not there, or A and B are the same.
    """
    baseline: Baseline | None = None
    if b is not None:
        first, second = find_arm(bench, a), find_arm(bench, b)
    else:
        second = _last_of_two(bench, a)
        found, baseline = baseline_arm(bench, second)
        if found is None:
            raise NotFoundError(
                baseline.sentence if baseline else "no baseline",
                fix=f"name one: fairtrial exp compare BASELINE {a}",
            )
        first = found
    if first.key == second.key:
        raise UsageError(
            f"A and B are the same experiment, {first.ref}",
            fix="name another one; fairtrial exp list shows all",
        )
    return first, second, baseline


def _last_of_two(bench: Bench, ref: str) -> ChosenArm:
    state, named = experiment_and_arm(bench, ref)
    if named is not None or len(state.experiment.arms) != 2:
        return find_arm(bench, ref)
    return ChosenArm(state, state.experiment.arms[1])

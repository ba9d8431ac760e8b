"""What is known of an unchanged agent's noise before a run."""

from __future__ import annotations

from fairtrial.analysis.planned_size import (
    GUESSED_FLIP_RATE,
    Question,
    effect_of,
    most_flips,
    noise_of,
)
from fairtrial.app.bench import Bench
from fairtrial.app.noise_floors import config_key, floor_of_plan, noise_floor_of
from fairtrial.app.reports.plan import SmallestEffect
from fairtrial.app.reports.power import Noise
from fairtrial.engine.plan import Plan
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import Experiment, Status
from fairtrial.model.noise import StoredFloor

MOST_FLIPS = 0.5
"""A fair coin: nothing flips more often than half of the time, except by luck in few trials."""
LOOKED_AT = 50
"""Experiments, from the newest on, among which one of the same dataset is looked for."""


def given_noise(flip_rate: float) -> Noise:
    """Return the noise that a user said."""
    return Noise(flip_rate, "given", "as you said")


def guessed_noise() -> Noise:
    """Return the noise of an ordinary agent."""
    return Noise(GUESSED_FLIP_RATE, "guess", "a guess: measure yours with --trials 3")


def noise_in(bench: Bench, ref: str) -> Noise:
    """Return the noise of a stored experiment: the floor that it measured, else its first arm's.

    Raises:
        NotFoundError: there is no such experiment.
        UsageError: it has one trial a case, or nothing that passes or fails.
    """
    experiment = bench.store.experiments.find(ref).experiment
    if experiment.measured:
        raise UsageError(f"{experiment.id} measures commands and has no pass rate", where="--from")
    kept = noise_floor_of(bench, config_key(experiment))
    if kept is not None and experiment.id in kept.experiments:
        return _floor(kept)
    found = _noise(bench, experiment)
    if isinstance(found, str):
        raise UsageError(
            f"{experiment.name} does not show how much a case varies",
            where="--from",
            why=found,
            fix="run it with --trials 3, or give a guess with --flip-rate",
        )
    return found


def smallest_effect_of(bench: Bench, plan: Plan) -> SmallestEffect:
    """Return what a comparison of two runs of this size would show.

    The noise is the floor that `exp aa` measured for this very configuration, else that of the
    newest finished experiment on the same dataset that shows any.
    """
    noise = _measured_floor(bench, plan) or _known_noise(bench, plan.dataset.dataset)
    asked = Question(noise.flip_rate, spread=not noise.at_most)
    effect = effect_of(len(plan.cases), plan.trials, asked)
    return SmallestEffect(effect, asked.power, asked.alpha, noise.flip_rate, noise.text)


def _measured_floor(bench: Bench, plan: Plan) -> Noise | None:
    kept = floor_of_plan(bench, plan)
    return None if kept is None else _floor(kept)


def _floor(kept: StoredFloor) -> Noise:
    floor = kept.floor
    size = f"{floor.cases:,} cases with {floor.trials:g} trials a run"
    text = f"the noise floor that exp aa measured ({' and '.join(kept.experiments)}), {size}"
    return _seen(floor.flip_rate, floor.flip_rate_at_most, text, kept.experiments[0])


def _known_noise(bench: Bench, dataset: str) -> Noise:
    for state in bench.store.experiments.newest(LOOKED_AT):
        experiment = state.experiment
        same = experiment.dataset == dataset and not experiment.measured
        if same and experiment.trials > 1 and state.status is Status.FINISHED:
            found = _noise(bench, experiment)
            if isinstance(found, Noise):
                return found
    return guessed_noise()


def _noise(bench: Bench, experiment: Experiment) -> Noise | str:
    """Return the noise of an experiment's first arm, or why it shows none."""
    counts = bench.store.experiments.outcome_counts(experiment.id, experiment.arms[0])
    found = noise_of(counts)
    if found is None:
        return "none of its trials has a verdict"
    if found.flip_rate is None:
        return found.reason
    text = (
        f"from {experiment.name} ({experiment.id}), {found.n:,} cases with {found.trials:g} trials"
    )
    return _seen(found.flip_rate, most_flips(counts), text, experiment.id)


def _seen(flip_rate: float, at_most: float | None, text: str, experiment: str) -> Noise:
    if at_most is None:
        return Noise(min(flip_rate, MOST_FLIPS), "experiment", text, experiment)
    text += ": no flip was seen, and 95 % sure it is no more than this"
    return Noise(at_most, "experiment", text, experiment, at_most=True)

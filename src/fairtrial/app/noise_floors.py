"""The noise floors that were measured: kept by what was run, and looked up again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime

from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm
from fairtrial.model.experiment import Experiment
from fairtrial.model.json import Json, content_hash
from fairtrial.model.noise import NoiseFloor, StoredFloor, Visible


def config_key(experiment: Experiment, arm: str | None = None) -> str:
    """Return a hash of what an arm runs: the dataset's name, its task, and the graders.

    Cases, trials and seed are not in it: they change the size of a run, not what is run.
    """
    task = experiment.spec["arms"][experiment.arms[-1] if arm is None else arm]
    return key_of(experiment.dataset, task, experiment.spec["graders"])


def key_of(dataset: str, task: Json, graders: Sequence[Json]) -> str:
    """Return the key of a configuration; see `config_key`."""
    return content_hash({"dataset": dataset, "task": task, "graders": list(graders)})


def noise_floor_of(bench: Bench, key: str) -> StoredFloor | None:
    """Return the noise floor of a configuration; None when none was measured."""
    stored: Mapping[str, Json] | None = bench.store.settings.get(f"noise_floor:{key}")
    if stored is None:
        return None
    known = {field.name for field in fields(NoiseFloor)} - {"visible"}
    visible = tuple(Visible(**entry) for entry in stored["visible"])
    values = {name: value for name, value in stored.items() if name in known}
    floor = NoiseFloor(**values, visible=visible)
    measured_at = datetime.fromisoformat(stored["measured_at"])
    return StoredFloor(floor, tuple(stored["experiments"]), measured_at)


def floor_of(bench: Bench, experiment: Experiment) -> StoredFloor | None:
    """Return the noise floor of an experiment's configuration; None when it has several."""
    keys = {config_key(experiment, arm) for arm in experiment.arms}
    return noise_floor_of(bench, keys.pop()) if len(keys) == 1 else None


def floor_of_either(bench: Bench, a: ChosenArm, b: ChosenArm) -> StoredFloor | None:
    """Return the noise floor of the baseline's configuration, else of the candidate's."""
    return noise_floor_of(bench, config_key(a.experiment, a.arm)) or noise_floor_of(
        bench, config_key(b.experiment, b.arm)
    )


def keep_noise_floor(bench: Bench, key: str, kept: StoredFloor) -> None:
    """Keep a noise floor in place of the one before."""
    value = {
        **asdict(kept.floor),
        "experiments": list(kept.experiments),
        "measured_at": kept.measured_at.isoformat(),
    }
    bench.store.settings.set(f"noise_floor:{key}", value, kept.measured_at)

"""The noise floors that were measured: kept by what was run, and looked up again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm
from fairtrial.engine.plan import Plan
from fairtrial.graders.scripts import script_digests
from fairtrial.model.experiment import Experiment
from fairtrial.model.json import Json, content_hash
from fairtrial.model.noise import NoiseFloor, StoredFloor, Visible


def config_key(experiment: Experiment, arm: str | None = None) -> str:
    """Return a hash of what an arm runs: the dataset's name, its task, the graders, their files.

    Cases, trials and seed are not in it: they change the size of a run, not what is run.
    """
    scripts = experiment.spec.get("grader_scripts") or {}
    return _key(experiment.dataset, *_task_and_graders(experiment, arm), scripts)


def _task_and_graders(experiment: Experiment, arm: str | None) -> tuple[Json, Sequence[Json]]:
    task = experiment.spec["arms"][experiment.arms[-1] if arm is None else arm]
    return task, experiment.spec["graders"]


def _key(
    dataset: str, task: Json, graders: Sequence[Json], scripts: Mapping[str, Json] | None = None
) -> str:
    files = {"grader_scripts": dict(scripts)} if scripts else {}
    return content_hash({"dataset": dataset, "task": task, "graders": list(graders), **files})


def floor_of_plan(bench: Bench, plan: Plan) -> StoredFloor | None:
    """Return the noise floor of what a plan runs; None when none was measured.

    A plan does not say where its graders' files are; they are looked for where they were when the
    newest floor of the same spec was measured.
    """
    graders = [grader.content() for grader in plan.graders]
    spec = (plan.dataset.dataset, plan.arms[-1].task.content(), graders)
    folder = bench.store.settings.get(f"noise_floor_at:{_key(*spec)}")
    if folder is None:
        return None
    scripts = script_digests((grader, Path(str(folder))) for grader in plan.graders)
    return noise_floor_of(bench, _key(*spec, scripts))


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


def keep_noise_floor(bench: Bench, measured: ChosenArm, kept: StoredFloor) -> None:
    """Keep the noise floor of an arm's configuration in place of the one before."""
    experiment, settings, at = measured.experiment, bench.store.settings, kept.measured_at
    value = {
        **asdict(kept.floor),
        "experiments": list(kept.experiments),
        "measured_at": at.isoformat(),
    }
    settings.set(f"noise_floor:{config_key(experiment, measured.arm)}", value, at)
    key = _key(experiment.dataset, *_task_and_graders(experiment, measured.arm))
    settings.set(f"noise_floor_at:{key}", str(experiment.spec.get("base_dir", "")), at)

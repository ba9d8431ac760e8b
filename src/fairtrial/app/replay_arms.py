"""What a run does with its tasks' model calls, and the arm that measures the noise of a replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import find_arm
from fairtrial.app.requests.exp_run import Request
from fairtrial.app.settling import tell
from fairtrial.app.task_scripts import task_script_digests
from fairtrial.engine.plan import Arm
from fairtrial.model.errors import UsageError
from fairtrial.model.eval_task import AGENT
from fairtrial.model.experiment import Experiment
from fairtrial.model.json import Json
from fairtrial.model.recorded_call import CallQuery
from fairtrial.model.task import TaskSpec
from fairtrial.tasks.registry import task_spec

CONTROL, CANDIDATE = "control", "candidate"
CONTINUATION = "continuation"
EDITED = (
    "the file of the recorded task was edited since, so the control runs it as it is now; keep "
    "both versions, as two files, for a control that runs what was recorded"
)


class Control(NamedTuple):
    """The recorded configuration, and where its relative paths start."""

    task: TaskSpec
    folder: Path


def calls_given(bench: Bench, request: Request) -> dict[str, Json]:
    """Return what a request wants done with the model calls of its tasks, as in `Plan.calls`.

    Raises:
        UsageError: options that need each other, or a recording that cannot be used.
        NotFoundError: there is no such experiment.
    """
    options = request.recording
    if options.replay is None:
        if options.replay_until is not None:
            raise UsageError(
                "--replay-until has no effect without --replay", fix="add --replay EXPERIMENT"
            )
        return {"record": True} if options.record else {}
    again = {
        "--stop-on-regression": request.design.stop_on_regression,
        "--seq": request.design.seq is not None,
    }
    for flag in (flag for flag, given in again.items() if given):
        raise UsageError(
            f"--replay and {flag} cannot be combined",
            why="a failed trial that is tried again would be served the very calls it failed with",
            fix="leave one of them out",
        )
    source = find_arm(bench, options.replay)
    experiment = source.experiment
    if request.dataset and request.dataset.partition("@")[0] != experiment.dataset:
        raise UsageError(
            f"{source.label} ran on dataset {experiment.dataset}: none of its calls fits",
            where="--replay",
            fix=f"replay it on the same cases: --dataset {experiment.dataset}",
        )
    if not bench.store.calls.newest(CallQuery(experiment_id=experiment.id, limit=1)):
        raise UsageError(
            f"{source.label} has no recorded model calls",
            where="--replay",
            fix="record some first: fairtrial exp run SPEC --record",
        )
    replay = {"experiment": experiment.id, "arm": source.arm, "until": options.replay_until}
    return {"record": True, "replay": replay}


def control_of(bench: Bench, request: Request, calls: dict[str, Json], task: Arm) -> Control | None:
    """Return the recorded configuration that a task is to be compared with; None for none.

    What there is, or is not, is noted in `calls`.

    Args:
        bench: The workbench.
        request: The request.
        calls: What `calls_given` returned.
        task: The task under test.

    Raises:
        UsageError: `--no-control` has nothing to leave out.
    """
    replay = calls.get("replay")
    options = task.task.options
    changes = options.get("vary") or options.get("harness") is not None
    varies = task.task.kind == CONTINUATION and bool(changes)
    if replay is None and not varies:
        refuse_no_control(request)
        return None
    calls["control"] = request.recording.control
    if not request.recording.control:
        return None
    if replay is None:
        return Control(replaced(task.task, vary={}, harness=None), bench.cwd)
    experiment = bench.store.experiments.find(replay["experiment"]).experiment
    recorded = task_spec(experiment.spec["arms"][replay["arm"]], f"task of {experiment.id}")
    calls["folder"] = experiment.spec["base_dir"]
    folder = Path(experiment.spec["base_dir"])
    _tell_limits(bench, (experiment, replay["arm"]), Arm(CONTROL, recorded), task, folder)
    return Control(recorded, folder)


def _tell_limits(
    bench: Bench, source: tuple[Experiment, str], control: Arm, task: Arm, folder: Path
) -> None:
    """Tell why the control is not what was recorded: a file that its spec names was edited."""
    experiment, arm = source
    then = experiment.spec.get("task_scripts", {}).get(arm)
    now = task_script_digests([control], folder).get(control.name)
    if then is not None and then != now:
        tell(
            bench,
            [EDITED],
        )
    elif control.task == task.task:
        note = "both arms run the recorded task: a change outside of its spec is in both of them"
        tell(bench, [note])


def refuse_no_control(request: Request) -> None:
    """Refuse to leave out a control that there is none of.

    Raises:
        UsageError: there is none to leave out.
    """
    if not request.recording.control:
        raise UsageError(
            "--no-control has no effect",
            why="only --replay, or a continuation task that varies something, has a control, and "
            "two arms of your own have none",
            fix="leave it out",
        )


def replaced(task: TaskSpec, **options: Json) -> TaskSpec:
    """Return a task with other options."""
    return TaskSpec(task.kind, {**task.options, **options})


def check_recordable(bench: Bench, arms: Sequence[Arm], calls: dict[str, Json]) -> None:
    """Refuse tasks whose calls cannot be led through a proxy, and tell what it changes.

    The calls of coding agents always are.

    Raises:
        UsageError: one is an http task.
    """
    kinds = {arm.task.kind: arm.name for arm in arms}
    if AGENT in kinds:
        # Its sandbox leaves it no other way to a model than the proxy.
        calls["record"] = True
    if not calls.get("record"):
        return
    if "http" in kinds:
        raise UsageError(
            "the model calls of an http task are the service's own, and do not come through here",
            where=f"task of arm {kinds['http']}",
            fix="record them where they are made: start `fairtrial proxy --port 8787`, then the "
            "service with the variables that it prints",
        )
    if runs_alone(arms, calls):
        note = "one trial runs at a time: the address of its calls is in a python task's os.environ"
        tell(bench, [note])


def runs_alone(arms: Sequence[Arm], calls: Mapping[str, Json]) -> bool:
    """Return whether one trial runs at a time: the address of its calls is in `os.environ`."""
    return bool(calls.get("record")) and any(arm.task.kind == "python" for arm in arms)

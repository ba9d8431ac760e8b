"""Graders that score the stored outputs of an experiment later, in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ulid import ULID

from fairtrial.app.bench import Bench, ignore
from fairtrial.app.crashes import crash_log
from fairtrial.app.kept_outputs import require_outputs
from fairtrial.app.provenance import provenance
from fairtrial.app.regrading import Intent, Placed, case_loader, machinery_of, world_of
from fairtrial.app.reported_bodies import NewScorers
from fairtrial.app.reported_rows import grader_of
from fairtrial.app.reports.reported import StandingReport
from fairtrial.app.settling import settled_graders
from fairtrial.engine.control import Control
from fairtrial.engine.plan import Arm, Plan, Policy
from fairtrial.engine.regrade import Adder, stored_leases
from fairtrial.engine.run import Due, run
from fairtrial.graders.registry import grader_spec, grader_specs
from fairtrial.model.errors import ConflictError, RefusedError, UsageError
from fairtrial.model.experiment import Experiment, ExperimentState
from fairtrial.model.grader import GraderSpec
from fairtrial.model.json import Json, content_hash
from fairtrial.model.reported import REPORTED
from fairtrial.model.task import TaskSpec

_RUNNING_PROGRAMS: Final = frozenset({"command", "python", "verifier"})
"""Kinds of graders that run a program of this machine: a key of the API must not be able to."""
_LONGEST_WAIT_S: Final = 60


class Scorings:
    """What scores in the background, until it is done or asked to stop."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._running: set[Control] = set()
        self._lock = threading.Lock()
        bench.control.listen(self._asked)

    def start(self, ref: str, request: NewScorers) -> StandingReport:
        """Begin to score an experiment's outputs; the result is an experiment of its own.

        It holds the scores that were there and the new ones, and is read like any other while it
        grows. What is asked to stop leaves it interrupted.

        Raises:
            NotFoundError: there is no such experiment, or its outputs were removed.
            ConflictError: its scores come from a run's report, or it has no trial yet.
            RefusedError: a grader would run a program of this machine.
            UsageError: a grader is wrong.
        """
        control = Control()
        bench = replace(self._bench, publish=ignore, control=control)
        bench.__dict__["store"] = self._bench.store
        due = _due_of(bench, ref, request)
        opened = threading.Event()
        failed: list[Exception] = []

        def work() -> None:
            try:
                due(opened.set)
            except Exception as error:  # noqa: BLE001  # told, or logged: nobody waits any more
                failed.append(error)
                if opened.is_set():
                    crash_log(bench.home / "crashes.log", error)
            finally:
                with self._lock:
                    self._running.discard(control)
                opened.set()

        with self._lock:
            self._running.add(control)
        threading.Thread(target=work, name="scoring", daemon=True).start()
        opened.wait(_LONGEST_WAIT_S)
        if failed:
            raise failed[0]
        return StandingReport(bench.store.experiments.find(due.id))

    def _asked(self) -> None:
        reason = self._bench.control.drain_reason
        if reason is None:
            return
        with self._lock:
            running = tuple(self._running)
        for control in running:
            control.drain(reason)


@dataclass(frozen=True, slots=True)
class _Scoring:
    """One scoring, ready to be run."""

    bench: Bench
    intent: Intent
    experiment: Experiment

    @property
    def id(self) -> str:
        """The id of the experiment that it fills."""
        return self.experiment.id

    def __call__(self, opened: Callable[[], None]) -> None:
        """Run it."""
        bench, plan, origin = self.bench, self.intent.plan, self.intent.origin
        machinery, regrader = machinery_of(bench, self.intent, 1, cache=True)
        store = bench.store.experiments

        def begin() -> None:
            store.open_experiment(self.experiment, [case.position for case in plan.cases])
            opened()

        due = Due(
            plan,
            self.experiment,
            begin,
            leases=lambda: stored_leases(store.trials(origin.id), case_loader(bench, plan)),
        )
        adding = replace(machinery, work=Adder(regrader).run)
        run(due, adding, world_of(bench, plan), bench.control)


def _due_of(bench: Bench, ref: str, request: NewScorers) -> _Scoring:
    state = bench.store.experiments.find(ref)
    _check_origin(bench, state)
    origin = state.experiment
    kept = tuple(map(_kept, origin.spec["graders"]))
    added = tuple(_placed(bench, value, i) for i, value in enumerate(request.graders))
    names = [spec.name for spec in (*kept, *(one.spec for one in added))]
    if len(set(names)) < len(names):
        raise UsageError(
            "a grader of this name is there already", where="graders", fix="give it a name"
        )
    grader_specs([one.spec.content() | {"required": True} for one in added], "graders")
    datasets = bench.store.datasets
    dataset = datasets.version(f"{origin.dataset}@{origin.dataset_number}")
    outlines = tuple(datasets.outline(dataset))
    plan = Plan(
        dataset=dataset,
        cases=tuple(outlines[p] for p in bench.store.experiments.positions(origin.id)),
        arms=tuple(
            Arm(name, TaskSpec(task["kind"], {k: v for k, v in task.items() if k != "kind"}))
            for name, task in origin.spec["arms"].items()
        ),
        graders=(*kept, *(one.spec for one in added)),
        trials=origin.trials,
        seed=origin.seed,
        policy=Policy(concurrency=request.concurrency, retries=0, stop_after_infra=0),
    )
    return _Scoring(bench, Intent(origin, plan, added), _experiment(bench, origin, plan, request))


def _check_origin(bench: Bench, state: ExperimentState) -> None:
    origin = state.experiment
    if origin.is_eval or origin.measured:
        raise ConflictError(
            "derived_experiment",
            f"the scores of {origin.id} come from the report of its run",
            fix="grade that run again: fairtrial eval run, or fairtrial exp metrics",
        )
    if origin.dataset_number < 0:
        raise ConflictError(
            "experiment_open", f"{origin.id} still takes rows", fix="finish it first"
        )
    if state.totals.recorded == 0:
        raise ConflictError("no_rows", f"{origin.id} has no trial on record to score")
    require_outputs(bench, origin)


def _kept(stored: Json) -> GraderSpec:
    return grader_of(stored) if stored["kind"] == REPORTED else grader_spec(stored, "graders")


def _placed(bench: Bench, value: Json, place: int) -> Placed:
    where = f"graders[{place}]"
    spec = grader_spec(value, where)
    if spec.kind in _RUNNING_PROGRAMS:
        raise RefusedError(
            f"a {spec.kind} grader runs a program of the server's machine",
            where=where,
            fix="there: fairtrial exp regrade EXPERIMENT --grader FILE",
        )
    _refuse_files(spec.options, where)
    (settled,) = settled_graders(bench, [spec], bench.cwd, where)
    return Placed(settled, Path(bench.cwd))


def _refuse_files(value: Json, where: str) -> None:
    """Refuse texts that name a file of the server's machine.

    Raises:
        RefusedError: there is one.
    """
    if isinstance(value, str) and value.startswith("@"):
        raise RefusedError(
            "a file of the server's machine cannot be named here",
            where=where,
            fix="give its text",
        )
    parts = value.values() if isinstance(value, Mapping) else value
    if isinstance(parts, Iterable) and not isinstance(parts, str):
        for part in parts:
            _refuse_files(part, where)


def _experiment(bench: Bench, origin: Experiment, plan: Plan, request: NewScorers) -> Experiment:
    new_id = f"exp_{ULID()}"
    facts = {key: origin.spec[key] for key in ("gate", "baseline") if key in origin.spec}
    return replace(
        origin,
        id=new_id,
        name=request.name or origin.name,
        spec={
            **plan.spec(),
            "base_dir": str(bench.cwd),
            "regrade_of": origin.id,
            **facts,
        },
        policy=plan.policy.content(),
        # Not that of a run: a resume must never find it.
        identity=content_hash({"scored": new_id}),
        provenance=provenance(Path(origin.provenance.cwd), bench.environ, "api"),
        created_at=bench.clock.now(),
        series=None,
    )

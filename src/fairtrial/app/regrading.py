"""What a regrade runs with: its graders, and the cases of the stored trials."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.app.crashes import crash_log
from fairtrial.app.grader_rounds import repeats
from fairtrial.engine.plan import Plan
from fairtrial.engine.regrade import Regrader
from fairtrial.engine.run import Machinery, World
from fairtrial.engine.stop_rules import hopeless
from fairtrial.executors.local import LocalExecutor
from fairtrial.graders.grading import grade_all
from fairtrial.graders.registry import build_grader
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.experiment import Experiment
from fairtrial.model.grader import GraderSpec
from fairtrial.ports import CaseOutline
from fairtrial.workspaces.host.client import HostWorkspace


@dataclass(frozen=True, slots=True)
class Placed:
    """A grader and where its relative paths start."""

    spec: GraderSpec
    folder: Path


@dataclass(frozen=True, slots=True)
class Intent:
    """What is graded again: the original, its plan with the new graders, and those graders."""

    origin: Experiment
    plan: Plan
    placed: tuple[Placed, ...]


def machinery_of(
    bench: Bench, intent: Intent, k: int, *, cache: bool
) -> tuple[Machinery, Regrader]:
    """Return what the engine runs with; graders that cannot differ are not asked twice.

    Raises:
        UsageError: an option of a grader does not work out.
    """
    workspace = HostWorkspace(slots=2 * intent.plan.policy.concurrency)
    graders = tuple(
        build_grader(
            placed.spec,
            bench.surroundings(placed.folder, workspace, cache=cache),
            f"grader {placed.spec.name}",
        )
        for placed in intent.placed
    )
    regrader = Regrader(
        grade=functools.partial(grade_all, graders),
        crash_log=functools.partial(crash_log, bench.home / "crashes.log"),
        k=k if repeats(graders) else 1,
        give_up=lambda problem: bench.control.stop(hopeless(problem)),
    )
    return Machinery({}, graders, regrader.grade, workspace, regrader.run), regrader


def case_loader(bench: Bench, plan: Plan) -> Callable[[CaseKey], Case]:
    """Return what gives the case of a key, when keys are asked for in order and once each."""
    positions = [case.position for case in sorted(plan.cases, key=_key)]
    cases = bench.store.datasets.cases(plan.dataset, positions)
    passed_over: dict[CaseKey, Case] = {}

    def load(wanted: CaseKey) -> Case:
        while wanted not in passed_over:
            case = next(cases)
            passed_over[case.key] = case
        return passed_over.pop(wanted)

    return load


def _key(case: CaseOutline) -> CaseKey:
    return CaseKey(case.id, case.condition)


def world_of(bench: Bench, plan: Plan) -> World:
    """Return what a regrade touches."""
    return World(
        store=bench.store.experiments,
        load=lambda positions: bench.store.datasets.cases(plan.dataset, positions),
        executor=LocalExecutor(plan.policy.concurrency),
        clock=bench.clock,
        publish=bench.publish,
        crash_log=functools.partial(crash_log, bench.home / "crashes.log"),
    )

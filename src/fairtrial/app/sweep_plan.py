"""From what a user asked of a sweep to a plan of all of its phases, and to JSON and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ulid import ULID

from fairtrial.app.bench import Bench
from fairtrial.app.requests.exp_sweep import Request
from fairtrial.app.seeds import seed_or_drawn
from fairtrial.app.settling import settled_graders
from fairtrial.app.sweep_configs import configurations
from fairtrial.engine.plan import Arm, Plan, Policy, stored_policy
from fairtrial.engine.selection import Criteria, select, split_names
from fairtrial.graders.registry import grader_specs
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.errors import UsageError
from fairtrial.model.grader import GraderSpec
from fairtrial.model.json import Json, content_hash
from fairtrial.model.sweep import Sweep
from fairtrial.ports import CaseOutline
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.halving import HalvingPlan, default_budget, halving_plan
from fairtrial.tasks.registry import rehearse_task, task_spec

RACE, HELD_OUT, GUARD = "race", "held-out", "guard"
HALVING = "halving"
PRIOR = "prior"
TRAIN, TEST = "train", "test"
HELD_OUT_SHARE = 0.3
TAU, WEIGHT = 0.1, 2.0
GUARD_TRIALS = 3
"""Trials a case of a guard, at least: what breaks by luck alone can only then be told apart."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One experiment of a sweep.

    Attributes:
        role: `race`, `held-out` or `guard`.
        id: The id that its experiment has, or will have.
        name: Its name.
        dataset: Its dataset version.
        positions: Its cases, as dataset positions.
    """

    role: str
    id: str
    name: str
    dataset: str
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """A whole sweep, with all that was left open decided.

    Attributes:
        phases: The race, the held-out comparison, and one a guard.
        arms: The configurations, the start first.
        graders: What grades every phase.
        trials: Trials a case.
        budget: Cases that the race may run, over all configurations.
        seed: The seed of every phase.
        policy: How the trials are run; its limit is that of the whole sweep.
        folder: Where relative paths start.
        tau: Largest share of solved guard cases that may break.
        weight: How many fixes a break weighs in a guard.
        splits: What the race and the held-out comparison run on, in words.
    """

    phases: tuple[Phase, ...]
    arms: tuple[Arm, ...]
    graders: tuple[GraderSpec, ...]
    trials: int
    budget: int
    seed: int
    policy: Policy
    folder: Path
    tau: float
    weight: float
    splits: tuple[str, str]

    @property
    def race(self) -> Phase:
        """The first phase."""
        return self.phases[0]

    @property
    def held_out(self) -> Phase:
        """The second phase."""
        return self.phases[1]

    @property
    def guards(self) -> tuple[Phase, ...]:
        """The phases after it."""
        return self.phases[2:]

    @property
    def halving(self) -> HalvingPlan:
        """The rounds of the race."""
        return halving_plan(len(self.arms), self.budget)

    def design(self) -> dict[str, Json]:
        """Return the design of the race, as its experiment keeps it."""
        planned = self.halving.used * self.trials
        return {"kind": HALVING, "budget": self.budget, "planned": planned}

    def content(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        return {
            "phases": [
                {
                    "role": phase.role,
                    "id": phase.id,
                    "name": phase.name,
                    "dataset": phase.dataset,
                    "positions": list(phase.positions),
                }
                for phase in self.phases
            ],
            "arms": {arm.name: arm.task.content() for arm in self.arms},
            "graders": [grader.content() for grader in self.graders],
            "trials": self.trials,
            "budget": self.budget,
            "seed": self.seed,
            "policy": self.policy.content(),
            "base_dir": str(self.folder),
            "tau": self.tau,
            "lambda": self.weight,
            "splits": list(self.splits),
        }


def stored_plan(sweep: Sweep) -> SweepPlan:
    """Return the plan that `SweepPlan.content` described."""
    told = sweep.plan
    return SweepPlan(
        phases=tuple(
            Phase(p["role"], p["id"], p["name"], p["dataset"], tuple(p["positions"]))
            for p in told["phases"]
        ),
        arms=tuple(Arm(name, task_spec(task, name)) for name, task in told["arms"].items()),
        graders=grader_specs(told["graders"], "graders"),
        trials=told["trials"],
        budget=told["budget"],
        seed=told["seed"],
        policy=stored_policy(told["policy"]),
        folder=Path(told["base_dir"]),
        tau=told["tau"],
        weight=told["lambda"],
        splits=(told["splits"][0], told["splits"][1]),
    )


def plan_of_phase(bench: Bench, plan: SweepPlan, phase: Phase, arms: Sequence[Arm]) -> Plan:
    """Return what the engine runs in a phase.

    Raises:
        NotFoundError: its dataset is gone.
    """
    dataset = bench.store.datasets.version(phase.dataset)
    outlines = tuple(bench.store.datasets.outline(dataset))
    return Plan(
        dataset=dataset,
        cases=tuple(outlines[position] for position in phase.positions),
        arms=tuple(arms),
        graders=plan.graders,
        trials=max(plan.trials, GUARD_TRIALS) if phase.role == GUARD else plan.trials,
        seed=plan.seed,
        policy=plan.policy,
        design=plan.design() if phase.role == RACE else {},
    )


def sweep_plan(bench: Bench, request: Request) -> SweepPlan:
    """Return the plan that a request describes.

    Raises:
        UsageError: something is missing or wrong, or there are too few cases.
        NotFoundError: a dataset or a file does not exist.
    """
    if request.dataset is None:
        raise UsageError("no dataset", fix="give one with --dataset NAME")
    if not request.graders:
        raise UsageError("no grader", fix="give one, e.g. --grader exact")
    _check_guarding(request)
    arms, places = configurations(bench, request.configs)
    graders = settled_graders(bench, grader_specs(request.graders, "graders"), bench.cwd, "graders")
    dataset = bench.store.datasets.version(request.dataset)
    seed = seed_or_drawn(request.seed)
    raced, held_out, splits = _parts(bench, request, dataset, seed)
    budget = _budget(request, len(arms), len(raced))
    case = next(iter(bench.store.datasets.cases(dataset, [raced[0].position])))
    for arm, place in zip(arms, places, strict=True):
        rehearse_task(arm.task, lambda: case, place, f"configuration {arm.name}")
    name = request.name or dataset.dataset
    phases = [
        _phase(RACE, name, dataset, raced),
        _phase(HELD_OUT, f"{name} held-out", dataset, held_out),
        *(_guard(bench, name, ref) for ref in _guards(bench, request, dataset)),
    ]
    # The race is the oldest of them, so that a list has them in their order.
    ids = sorted(phase.id for phase in phases)
    return SweepPlan(
        phases=tuple(replace(phase, id=id_) for phase, id_ in zip(phases, ids, strict=True)),
        arms=arms,
        graders=graders,
        trials=request.trials,
        budget=budget,
        seed=seed,
        policy=with_limits(Policy(), request),
        folder=bench.cwd,
        tau=TAU if request.guarding.guard_tau is None else request.guarding.guard_tau,
        weight=WEIGHT if request.guarding.guard_lambda is None else request.guarding.guard_lambda,
        splits=splits,
    )


def with_limits(policy: Policy, request: Request) -> Policy:
    """Return a policy with what a request changes of it."""
    limits = request.limits
    return Policy(
        limits.concurrency if limits.concurrency is not None else policy.concurrency,
        limits.retries if limits.retries is not None else policy.retries,
        limits.stop_after_infra if limits.stop_after_infra is not None else policy.stop_after_infra,
        limits.trial_timeout if limits.trial_timeout is not None else policy.trial_timeout_s,
        request.max_cost if request.max_cost is not None else policy.max_cost_usd,
        request.caching.no_cache or policy.no_cache,
    )


def identity_of(plan: SweepPlan, guards: Sequence[str]) -> str:
    """Return the hash of what makes two sweeps the same: not the seed, nor how they are run.

    Args:
        plan: The plan.
        guards: The guards as they were asked for: what prior means may change meanwhile.
    """
    told = plan.content()
    same = ("arms", "graders", "trials", "budget", "tau", "lambda", "splits", "base_dir")
    return content_hash(
        {
            **{name: told[name] for name in same},
            "dataset": plan.race.dataset,
            "guards": list(guards),
        }
    )


def _check_guarding(request: Request) -> None:
    given = {
        "--guard-tau": request.guarding.guard_tau,
        "--guard-lambda": request.guarding.guard_lambda,
    }
    stray = [flag for flag, value in given.items() if value is not None]
    if stray and not request.guarding.guards:
        raise UsageError(f"{stray[0]} has no effect without --guard", fix="add --guard DATASET")


def _phase(role: str, name: str, dataset: DatasetVersion, cases: Sequence[CaseOutline]) -> Phase:
    positions = tuple(case.position for case in cases)
    return Phase(role, f"exp_{ULID()}", name, dataset.ref, positions)


def _parts(
    bench: Bench, request: Request, dataset: DatasetVersion, seed: int
) -> tuple[tuple[CaseOutline, ...], tuple[CaseOutline, ...], tuple[str, str]]:
    """Return what is raced on, what is held out, and both in words."""
    outlines = tuple(bench.store.datasets.outline(dataset))
    names = split_names(outlines)
    if not names:
        if request.split is not None or request.held_out is not None:
            flag = "--split" if request.split is not None else "--held-out"
            raise UsageError(
                f"{dataset.ref} has no splits",
                where=flag,
                fix="leave it out: 30 % of the cases are held out then, drawn with the seed",
            )
        held = select(outlines, Criteria(sample=HELD_OUT_SHARE, sample_seed=seed))
        words = (f"{100 - 100 * HELD_OUT_SHARE:.0f} % of the cases", "the other 30 %")
    else:
        first = TRAIN if request.split is None else request.split
        second = TEST if request.held_out is None else request.held_out
        if first == second:
            raise UsageError(
                f"the race and the comparison after it both run on {first!r}",
                fix="hold out cases that nobody raced on: --held-out SPLIT",
            )
        for flag, split in (("--split", first), ("--held-out", second)):
            if split not in names:
                raise UsageError(
                    f"{dataset.ref} has no case in the split {split!r}",
                    where=flag,
                    why=f"its splits: {', '.join(names)}",
                    fix=f"name one of them with {flag}",
                )
        held = select(outlines, Criteria(split=second))
        words = (f"split {first}", f"split {second}")
    out = {case.id for case in held}
    # A condition of a held-out case in another split is that case all the same.
    within = Criteria(split=first) if names else Criteria()
    raced = tuple(case for case in select(outlines, within) if case.id not in out)
    if not raced or not held:
        what = "race on" if not raced else "hold out"
        raise UsageError(f"{dataset.ref} leaves no case to {what}", fix="add cases to the dataset")
    return raced, held, words


def _budget(request: Request, configs: int, cases: int) -> int:
    most = default_budget(configs, cases)
    budget = most if request.budget is None else request.budget
    try:
        needed = halving_plan(configs, budget).cases
    except ArgumentError as error:
        if request.budget is None:
            raise UsageError(
                f"{cases:,} cases are too few to race {configs:,} configurations",
                fix="add cases, or race fewer configurations",
            ) from None
        raise UsageError(str(error).removeprefix("budget: "), where="--budget") from None
    if needed > cases:
        raise UsageError(
            f"a budget of {budget:,} needs {needed:,} cases to race on; there are {cases:,}",
            where="--budget",
            fix=f"at most --budget {most}, or leave it out",
        )
    return budget


def _guards(bench: Bench, request: Request, raced: DatasetVersion) -> list[str]:
    """Return the dataset versions that guard, each once."""
    found: dict[str, str] = {}
    for word in request.guarding.guards:
        if word == PRIOR:
            # Of the raced dataset itself, cases are held out anyway.
            names = [sweep.dataset for sweep in bench.store.sweeps.adopting()]
            for name in dict.fromkeys(names):
                if name != raced.dataset:
                    found.setdefault(name, bench.store.datasets.version(name).ref)
        else:
            version = bench.store.datasets.version(word)
            if version.ref == raced.ref:
                raise UsageError(
                    f"the race runs on {version.ref}: it cannot guard itself",
                    where="--guard",
                    why="a guard is a suite that had no part in the choice",
                    fix="leave it out: cases of it are held out, and the ship gate counts what "
                    "breaks there",
                )
            found[version.dataset] = version.ref
    return list(found.values())


def _guard(bench: Bench, name: str, ref: str) -> Phase:
    version = bench.store.datasets.version(ref)
    outlines = tuple(bench.store.datasets.outline(version))
    split = TEST if TEST in split_names(outlines) else None
    cases = select(outlines, Criteria(split=split))
    return _phase(GUARD, f"{name} guard {version.dataset}", version, cases)

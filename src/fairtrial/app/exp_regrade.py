"""`exp regrade`: grades stored outputs again and says what flipped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ulid import ULID

from fairtrial.analysis.regrade import regrade_of
from fairtrial.app.bench import Bench
from fairtrial.app.grader_noises import keep_grader_noise, with_grader_noise
from fairtrial.app.grader_rounds import noise_of
from fairtrial.app.kept_outputs import require_outputs
from fairtrial.app.picturing import checked_plot, pictured_experiment
from fairtrial.app.provenance import provenance
from fairtrial.app.regrading import Intent, Placed, case_loader, machinery_of, world_of
from fairtrial.app.reports.accompanied import AccompaniedReport
from fairtrial.app.reports.experiment import experiment_report
from fairtrial.app.reports.regrade import RegradeReport
from fairtrial.app.requests.exp_regrade import Request
from fairtrial.app.settling import settled_graders
from fairtrial.engine.plan import Arm, Plan, Policy
from fairtrial.engine.regrade import Regrader, stored_leases
from fairtrial.engine.run import Due, Machinery, run
from fairtrial.graders.registry import grader_spec, grader_specs
from fairtrial.graders.scripts import script_digests
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import Experiment, ExperimentState, Status
from fairtrial.model.grader import GraderSpec
from fairtrial.model.json import content_hash
from fairtrial.model.regrade import RepeatedGrading
from fairtrial.model.reported import REPORTED
from fairtrial.model.task import TaskSpec
from fairtrial.stats.proportion import pass_rate
from fairtrial.tasks.registry import task_spec


def exp_regrade(bench: Bench, request: Request) -> RegradeReport | AccompaniedReport:
    """Grade the outputs of an experiment again and store the result as an experiment.

    Raises:
        NotFoundError: there is no such experiment, or its outputs were removed.
        UsageError: a grader is wrong, no trial is on record, or the picture cannot be written.
        StoreError: the store cannot be read or written.
    """
    path = checked_plot(bench, request.picture.plot)
    store = bench.store.experiments
    origin = store.find(request.experiment)
    if origin.experiment.measured:
        raise UsageError(
            f"{origin.experiment.name} measures commands and has no verdicts to grade again",
            fix=f"read it with: fairtrial exp show {origin.experiment.id}",
        )
    if origin.totals.recorded == 0:
        raise UsageError(f"{origin.experiment.id} has no trial on record to grade")
    require_outputs(bench, origin.experiment)
    intent = _intent(bench, request, origin)
    machinery, regrader = machinery_of(bench, intent, request.k, cache=not request.caching.no_cache)
    experiment = _experiment(bench, request, intent)
    positions = [case.position for case in intent.plan.cases]
    due = Due(
        intent.plan,
        experiment,
        lambda: store.open_experiment(experiment, positions),
        leases=lambda: stored_leases(
            store.trials(origin.experiment.id), case_loader(bench, intent.plan)
        ),
    )
    ending = run(due, machinery, world_of(bench, intent.plan), bench.control)
    if ending.status is Status.FINISHED and origin.status is not Status.FINISHED:
        _close_as_partial(bench, experiment.id, origin)
    report = _report(bench, origin, experiment.id, (machinery, regrader), request.k)
    return report if path is None else pictured_experiment(bench, report, experiment.id, path)


def _intent(bench: Bench, request: Request, origin: ExperimentState) -> Intent:
    experiment = origin.experiment
    placed = _graders(bench, request, experiment)
    dataset = bench.store.datasets.version(f"{experiment.dataset}@{experiment.dataset_number}")
    outlines = tuple(bench.store.datasets.outline(dataset))
    arms = experiment.spec["arms"].items()
    plan = Plan(
        dataset=dataset,
        cases=tuple(outlines[p] for p in bench.store.experiments.positions(experiment.id)),
        arms=tuple(
            # What another program ran has no options to check.
            Arm(name, TaskSpec(REPORTED) if experiment.is_reported else task_spec(task, name))
            for name, task in arms
        ),
        graders=tuple(grader.spec for grader in placed),
        trials=experiment.trials,
        seed=experiment.seed,
        policy=Policy(concurrency=request.concurrency, retries=0, stop_after_infra=0),
    )
    return Intent(experiment, plan, placed)


def _graders(bench: Bench, request: Request, origin: Experiment) -> tuple[Placed, ...]:
    """Return the graders by name: a later one takes the place of an earlier one."""
    found: dict[str, Placed] = {}
    if request.spec is None and not request.replace_graders:
        folders: Mapping[str, str] = origin.spec.get("grader_dirs", {})
        for value in origin.spec["graders"]:
            if value["kind"] == REPORTED:
                continue  # it scored elsewhere, and cannot be asked again
            spec = grader_spec(value, "graders")
            folder = Path(folders.get(spec.name, origin.spec["base_dir"]))
            found[spec.name] = _placed(bench, spec, folder)
    where = str(request.spec) if request.spec else "--grader"
    folder = bench.cwd if request.spec is None else request.spec.parent
    for value in request.graders:
        spec = grader_spec(value, where)
        found[spec.name] = _placed(bench, spec, folder)
    if not found:
        raise UsageError("no grader", where=where, fix="give one, e.g. --grader exact")
    grader_specs([grader.spec.content() for grader in found.values()], where)
    return tuple(found.values())


def _placed(bench: Bench, spec: GraderSpec, folder: Path) -> Placed:
    (settled,) = settled_graders(bench, [spec], folder, f"grader {spec.name}")
    return Placed(settled, folder)


def _experiment(bench: Bench, request: Request, intent: Intent) -> Experiment:
    plan, origin = intent.plan, intent.origin
    base_dir = origin.spec["base_dir"]
    scripts = script_digests((g.spec, g.folder) for g in intent.placed)
    elsewhere = {g.spec.name: str(g.folder) for g in intent.placed if str(g.folder) != base_dir}
    return Experiment(
        id=f"exp_{ULID()}",
        name=request.name or origin.name,
        dataset=plan.dataset.dataset,
        dataset_number=plan.dataset.number,
        dataset_digest=plan.dataset.digest,
        arms=origin.arms,
        trials=origin.trials,
        n_cases=origin.n_cases,
        seed=origin.seed,
        spec={
            **plan.spec(),
            "base_dir": base_dir,
            **({"grader_dirs": elsewhere} if elsewhere else {}),
            **({"grader_scripts": scripts} if scripts else {}),
            "regrade_of": origin.id,
            **{key: origin.spec[key] for key in ("failing", "gate") if key in origin.spec},
        },
        policy=plan.policy.content(),
        # Not that of a run: a resume must never find it.
        identity=content_hash({"regrade_of": origin.id, "identity": plan.identity}),
        provenance=provenance(bench.cwd, bench.environ),
        created_at=bench.clock.now(),
    )


def _close_as_partial(bench: Bench, experiment_id: str, origin: ExperimentState) -> None:
    """Close a regrade of a part of an experiment as what its original is: a part."""
    status = Status.INTERRUPTED if origin.status is Status.RUNNING else origin.status
    reason = f"its original is {origin.status.value}: only what was on record was graded"
    bench.store.experiments.close_experiment(experiment_id, status, reason, bench.clock.now())


def _report(
    bench: Bench,
    origin: ExperimentState,
    experiment_id: str,
    graded: tuple[Machinery, Regrader],
    k: int,
) -> RegradeReport:
    machinery, regrader = graded
    store = bench.store.experiments
    recorded = store.recorded_keys(experiment_id)
    before = (t for t in store.trials(origin.experiment.id) if t.key in recorded)
    noise = noise_of(machinery.graders, regrader.passes) if k > 1 else ()
    if noise:
        keep_grader_noise(bench, experiment_id, RepeatedGrading(k, noise))
    experiment = experiment_report(store, store.find(experiment_id))
    return RegradeReport(
        origin=origin,
        rate_before=pass_rate(store.outcome_counts(origin.experiment.id)),
        experiment=with_grader_noise(bench, experiment),
        regrade=regrade_of(zip(before, store.trials(experiment_id), strict=True)),
        k=k,
        noise=noise,
    )

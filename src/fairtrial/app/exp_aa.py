"""`exp aa`: how much differs when nothing differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm, experiment_and_arm, find_arm
from fairtrial.app.exp_run import run_arms
from fairtrial.app.noise_floors import keep_noise_floor
from fairtrial.app.picturing import checked_plot, pictured
from fairtrial.app.reports.aa import AaReport
from fairtrial.app.reports.accompanied import AccompaniedReport
from fairtrial.app.reports.experiment import ExperimentReport, judged
from fairtrial.app.requests.exp_aa import Request
from fairtrial.app.requests.exp_run import NEWEST, Setup
from fairtrial.app.requests.exp_run import Request as RunRequest
from fairtrial.app.spec_files import read_document
from fairtrial.model.columns import PairedRows
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.experiment import AA_ARMS, Experiment, Status
from fairtrial.model.json import Json
from fairtrial.model.noise import NoiseFloor, StoredFloor

_LONGEST_START = 197
"""Characters before the ending of a name, which has 200 at most."""


def exp_aa(bench: Bench, request: Request) -> AaReport | AccompaniedReport:
    """Run one configuration twice, or compare two runs of it, and keep its noise floor.

    Raises:
        UsageError: something is missing or wrong, the two are not runs of one configuration, or
            the picture cannot be written.
        NotFoundError: a dataset or an experiment does not exist.
        StoreError: the store cannot be read or written.
    """
    path = checked_plot(bench, request.picture.plot)
    report = _report(bench, request)
    if path is None:
        return report
    from fairtrial.app.plots.aa import aa_picture  # noqa: PLC0415  # rarely asked

    return pictured(report, aa_picture(report), path)


def _report(bench: Bench, request: Request) -> AaReport:
    if request.a is not None:
        return _measure(bench, *_stored(bench, request), None)
    if request.b is not None:
        raise UsageError(
            f"a spec is run twice, and {request.b} would not be looked at",
            fix=f"leave it out, or name two stored runs: fairtrial exp aa OTHER {request.b}",
        )
    report = run_arms(bench, _run_request(bench, request), AA_ARMS)
    if not isinstance(report, ExperimentReport):
        raise TypeError(report)
    if report.state.status is not Status.FINISHED:
        return AaReport((report.state,), report, None, "the run is not finished")
    first, second = (ChosenArm(report.state, arm) for arm in AA_ARMS)
    return _measure(bench, first, second, report)


def _run_request(bench: Bench, request: Request) -> RunRequest:
    setup = {field.name: getattr(request, field.name) for field in fields(Setup)}
    run = RunRequest(**setup, spec=request.spec)
    if run.resume is None:
        return replace(run, name=run.name or _usual_name(request))
    if run.resume == NEWEST and (run.dataset or run.task):
        return run
    return replace(run, resume=_to_resume(bench, run.resume))


def _usual_name(request: Request) -> str | None:
    """Return a name of its own: the newest of a name is found first, and hides earlier runs."""
    given = None if request.spec is None else read_document(request.spec).get("name")
    name = given if isinstance(given, str) else (request.dataset or "").partition("@")[0]
    return f"{name[:_LONGEST_START]}-aa" if name else None


def _to_resume(bench: Bench, ref: str) -> str:
    """Return the id of the A/A experiment to resume, also without a spec that describes it."""
    store = bench.store.experiments
    if ref != NEWEST:
        experiment = store.find(ref).experiment
        if not experiment.is_aa:
            raise UsageError(
                f"{experiment.id} is no A/A experiment",
                fix=f"resume it with: fairtrial exp run --resume {experiment.id}",
            )
        return experiment.id
    for state in store.unfinished():
        if state.experiment.is_aa:
            return state.experiment.id
    raise NotFoundError("no unfinished A/A experiment to resume", fix="see: fairtrial exp status")


def _stored(bench: Bench, request: Request) -> tuple[ChosenArm, ChosenArm]:
    given = [field.name for field in fields(Setup) if _was_given(request, field.name)]
    if given:
        raise UsageError(
            f"stored runs take no other option, got {', '.join(given)}",
            fix="name two stored runs alone, or a spec file (.json, .yaml, .toml) to run twice",
        )
    runs = _two_runs(bench, str(request.a), request.b)
    _check_same(*runs)
    return runs


def _two_runs(bench: Bench, a: str, b: str | None) -> tuple[ChosenArm, ChosenArm]:
    if b is not None:
        return find_arm(bench, a), find_arm(bench, b)
    state, arm = experiment_and_arm(bench, a)
    arms = state.experiment.arms
    if arm is not None or len(arms) == 1:
        raise UsageError(
            f"{a} is one run: a second one is needed",
            fix=f"name it too: fairtrial exp aa {a} OTHER",
        )
    if len(arms) > 2:
        raise UsageError(
            f"{a} has {len(arms)} arms: which two?",
            why=f"its arms: {', '.join(arms)}",
            fix=f"name them: fairtrial exp aa {a}:{arms[0]} {a}:{arms[1]}",
        )
    return ChosenArm(state, arms[0]), ChosenArm(state, arms[1])


def _was_given(request: Request, name: str) -> bool:
    value = getattr(request, name)
    return bool(value != getattr(Request(), name))


def _check_same(first: ChosenArm, second: ChosenArm) -> None:
    a, b = first.experiment, second.experiment
    if first.key == second.key:
        raise UsageError("A and B are the same run", fix="name another one")
    if any(
        reused.source == "cache" for run in (first, second) for reused in run.state.totals.reused
    ):
        raise UsageError(
            "answers of one of the runs came from the cache, so they are no two draws",
            why="a run that is served the other's answers never differs from it",
            fix="run both anew: fairtrial exp aa SPEC, or each with exp run --no-cache",
        )
    scripts = _scripts_in_both(a, b)
    parts = (
        ("dataset", a.dataset, b.dataset),
        ("task", a.spec["arms"][first.arm], b.spec["arms"][second.arm]),
        ("graders", a.spec["graders"], b.spec["graders"]),
        ("files of graders", scripts[0], scripts[1]),
    )
    differing = [name for name, mine, other in parts if mine != other]
    if not differing:
        return
    raise UsageError(
        f"{first.label} and {second.label} are not runs of one configuration",
        why=f"they differ in: {', '.join(differing)}",
        fix=f"compare them with: fairtrial exp compare {first.ref} {second.ref}",
    )


def _scripts_in_both(a: Experiment, b: Experiment) -> tuple[Mapping[str, Json], ...]:
    found = [experiment.spec.get("grader_scripts") or {} for experiment in (a, b)]
    return tuple({name: one[name] for name in found[0].keys() & found[1].keys()} for one in found)


def _measure(
    bench: Bench, first: ChosenArm, second: ChosenArm, report: ExperimentReport | None
) -> AaReport:
    rows = bench.store.experiments.paired_rows(first.key, second.key)
    states = tuple({run.experiment.id: run.state for run in (first, second)}.values())
    floor = _floor(rows)
    if floor is None:
        return AaReport(states, report, None, "no case has a verdict in both runs")
    if not all(judged(state) for state in states):
        # Runs that always crash never differ: as a floor, that would make any change look sure.
        return AaReport(states, report, None, "no grader judged any output")
    ids = tuple(state.experiment.id for state in states)
    stored = StoredFloor(floor, ids, bench.clock.now())
    keep_noise_floor(bench, first, stored)
    return AaReport(states, report, floor, None)


def _floor(rows: PairedRows) -> NoiseFloor | None:
    # numpy: not needed to run, only to measure
    from fairtrial.analysis.noise import noise_floor  # noqa: PLC0415
    from fairtrial.stats.trials import from_counts  # noqa: PLC0415

    a, b = rows.a, rows.b
    both = [
        (a.passed[i], a.passed[i] + a.failed[i], b.passed[j], b.passed[j] + b.failed[j])
        for i, j in zip(*rows.pairs, strict=True)
        if a.passed[i] + a.failed[i] and b.passed[j] + b.failed[j]
    ]
    if not both:
        return None
    passed_a, decided_a, passed_b, decided_b = zip(*both, strict=True)
    return noise_floor(from_counts(passed_a, decided_a), from_counts(passed_b, decided_b))

"""Experiments that other programs ran: opened, filled with rows and finished, one call each."""

from __future__ import annotations

import platform

import msgspec
from ulid import ULID

from fairtrial import __version__
from fairtrial.app.bench import Bench
from fairtrial.app.dataset_add import checked_name
from fairtrial.app.gate_rules import gate_rules
from fairtrial.app.projects import project_named
from fairtrial.app.reported_bodies import Finish, NewExperiment, ReportedGrader, RowBatch
from fairtrial.app.reported_rows import RowReader, grader_of
from fairtrial.app.reports.reported import StandingReport, TakenReport
from fairtrial.engine.plan import Policy
from fairtrial.model.errors import ConflictError, UsageError
from fairtrial.model.experiment import Experiment, Provenance, Status
from fairtrial.model.grader import GraderSpec
from fairtrial.model.json import Json, content_hash
from fairtrial.model.reported import REPORTED, Receipt


def open_reported(
    bench: Bench, request: NewExperiment, receipt: Receipt | None, project: str
) -> StandingReport:
    """Open an experiment that another program reports.

    Args:
        bench: The workbench.
        request: What it is.
        receipt: Makes the request known when it is sent again.
        project: The id or name of its project.

    Raises:
        UsageError: something does not fit.
        NotFoundError: there is no such project, dataset version or baseline.
        ConflictError: the receipt's key belongs to another request.
    """
    experiment = _experiment(bench, request, project)
    found, again = bench.store.reports.open(experiment, receipt)
    return StandingReport(bench.store.experiments.find(found), again)


def take_rows(bench: Bench, ref: str, request: RowBatch, receipt: Receipt | None) -> TakenReport:
    """Store rows of an experiment, all of them or none.

    Raises:
        UsageError: a row does not fit.
        NotFoundError: there is no such experiment.
        ConflictError: they do not go with what is on record.
    """
    state = bench.store.experiments.find(ref)
    experiment = state.experiment
    if not experiment.is_reported:
        raise ConflictError(
            "not_reported",
            f"{experiment.id} takes no rows: it was run, not reported",
            fix="open one with POST /v2/experiments",
        )
    now = bench.clock.now()
    try:
        rows = RowReader(bench, experiment).read(request.rows, now)
    except UsageError:
        if state.status is Status.RUNNING:
            raise
        # Whatever is wrong with them, they come too late.
        raise ConflictError(
            "experiment_ended", f"{experiment.id} is {state.status} and takes no more rows"
        ) from None
    return TakenReport(experiment.id, bench.store.reports.take(experiment.id, rows, receipt, now))


def finish_reported(bench: Bench, ref: str, request: Finish) -> StandingReport:
    """End an experiment that another program reports; ending it again changes nothing.

    Raises:
        NotFoundError: there is no such experiment.
        ConflictError: it has no rows, or was not reported.
    """
    experiment = bench.store.experiments.find(ref).experiment
    bench.store.reports.finish(
        experiment.id, Status(request.status), request.reason, bench.clock.now()
    )
    return StandingReport(bench.store.experiments.find(experiment.id))


def _experiment(bench: Bench, request: NewExperiment, project: str) -> Experiment:
    folder = project_named(bench, project).folder
    dataset, number, digest, n_cases = _dataset(bench, request)
    now = bench.clock.now()
    if len(set(request.arms)) < len(request.arms):
        raise UsageError("two arms have one name", where="arms")
    graders = _graders(request.graders)
    names = tuple(grader.name for grader in request.graders)
    gate_rules(request.gate, "gate", names)
    facts: dict[str, Json] = {}
    if request.baseline is not None:
        facts["baseline"] = bench.store.experiments.find(request.baseline).experiment.id
    if request.gate:
        facts["gate"] = request.gate
    told = {"target": request.target, "version": request.version, "model": request.model}
    task = {"kind": REPORTED, **{key: value for key, value in told.items() if value is not None}}
    experiment_id = f"exp_{ULID.from_datetime(now)}"
    git = request.git
    return Experiment(
        id=experiment_id,
        name=request.name,
        dataset=dataset,
        dataset_number=number,
        dataset_digest=digest,
        arms=tuple(request.arms),
        trials=1,
        n_cases=n_cases,
        seed=0,
        spec={
            "dataset": f"{dataset}@{number}" if number else dataset,
            "arms": dict.fromkeys(request.arms, task),
            "graders": graders,
            "trials": 1,
            "base_dir": folder,
            "reported": dict(request.metadata),
            **facts,
        },
        policy=Policy().content(),
        # Nothing can run it again, so only what has the same content must find it.
        identity=content_hash({"reported": request.content or experiment_id, "project": folder}),
        provenance=Provenance(
            fairtrial=__version__,
            python=platform.python_version(),
            host=platform.node(),
            cwd=folder,
            git_commit=None if git is None else git.commit,
            git_branch=None if git is None else git.branch,
            git_dirty=None if git is None else git.dirty,
            environment=request.environment,
            pull_request=request.pull_request,
            source=request.source,
        ),
        created_at=now,
        series=request.series,
    )


def _dataset(bench: Bench, request: NewExperiment) -> tuple[str, int, str, int]:
    """Return name, number, digest and size of the dataset; number 0 gathers the rows' cases."""
    if request.dataset_version is None:
        return checked_name(request.dataset or request.name), 0, "", 0
    if request.dataset is not None:
        raise UsageError(
            "an experiment has stored cases or new ones, not both",
            where="dataset, dataset_version",
            fix="leave one out",
        )
    version = bench.store.datasets.version(request.dataset_version)
    return version.dataset, version.number, version.digest, version.n_cases


def _graders(given: list[ReportedGrader]) -> list[Json]:
    names = [grader.name for grader in given]
    if len(set(names)) < len(names):
        raise UsageError("two graders have one name", where="graders")
    if not any(grader.required for grader in given):
        raise UsageError("no grader is required, so nothing could pass or fail", where="graders")
    return [_grader(grader).content() for grader in given]


def _grader(given: ReportedGrader) -> GraderSpec:
    told = msgspec.to_builtins(given)
    if given.lower_is_better:
        # Rounded as values are, so that the threshold itself passes.
        told |= {"not": True, "threshold": round(1.0 - given.threshold, 12)}
    return grader_of(told)

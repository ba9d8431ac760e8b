"""What can be written by the API: each route is one call of the application."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from fairtrial.app import reported_bodies as bodies
from fairtrial.app.adding_scorers import Scorings
from fairtrial.app.bench import Bench
from fairtrial.app.exp_baseline import exp_baseline
from fairtrial.app.key_create import key_create
from fairtrial.app.key_revoke import key_revoke
from fairtrial.app.project_rules import clear_rules, set_rules
from fairtrial.app.projects import HERE, add_project, bench_of, project_named
from fairtrial.app.reporting import finish_reported, open_reported, take_rows
from fairtrial.app.requests.exp_baseline import Request as BaselineRequest
from fairtrial.app.requests.key_create import Request as KeyRequest
from fairtrial.app.requests.key_revoke import Request as RevokeRequest
from fairtrial.app.storing_cases import store_cases
from fairtrial.http.bodies import KEY_HEADER, body, receipt
from fairtrial.http.names_in_paths import names_of
from fairtrial.http.verb_routes import answer, responses
from fairtrial.model.errors import UsageError
from fairtrial.model.reported import Receipt

BODY_REF: Final = "#/components/schemas/{name}"


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent to a route.

    Attributes:
        bench: The workbench.
        scorings: What scores in the background.
        path: The parameters of its path.
        body: The body; None where there is none.
        receipt: What makes it known when it is sent again.
    """

    bench: Bench
    scorings: Scorings
    path: dict[str, str]
    body: Any
    receipt: Receipt | None


@dataclass(frozen=True, slots=True)
class Writing:
    """A route that writes.

    Attributes:
        method: POST, PUT or DELETE.
        path: Its path, with parameters in braces.
        name: What it is called in the description.
        summary: What it does.
        run: Does it, and returns the report that is answered.
        answers: The form of that.
        body: What it takes; None takes nothing.
        status: What it answers when all is well.
        once: It takes an Idempotency-Key.
        optional: It may come without its body.
    """

    method: str
    path: str
    name: str
    summary: str
    run: Callable[[Sent], Any]
    answers: str
    body: type[Any] | None = None
    status: int = 200
    once: bool = False
    optional: bool = False


def writings() -> tuple[Writing, ...]:
    """Return the routes."""
    experiment = "/v2/experiments/{experiment}"
    project = "/v2/projects/{project}"
    standing = "fairtrial.experiment_standing/1"
    return (
        Writing(
            "POST",
            "/v2/experiments",
            "experiment_open",
            "Open an experiment that another program reports",
            lambda sent: open_reported(sent.bench, sent.body, sent.receipt, HERE),
            standing,
            bodies.NewExperiment,
            201,
            once=True,
        ),
        Writing(
            "POST",
            f"{project}/experiments",
            "project_experiment_open",
            "Open an experiment of a project that another program reports",
            _open_in_project,
            standing,
            bodies.NewExperiment,
            201,
            once=True,
        ),
        Writing(
            "POST",
            f"{experiment}/rows",
            "rows_add",
            "Store rows of an experiment, all of them or none",
            lambda sent: take_rows(sent.bench, sent.path["experiment"], sent.body, sent.receipt),
            "fairtrial.rows_taken/1",
            bodies.RowBatch,
            once=True,
        ),
        Writing(
            "POST",
            f"{experiment}/finish",
            "experiment_finish",
            "End an experiment; again changes nothing",
            lambda sent: finish_reported(sent.bench, sent.path["experiment"], sent.body),
            standing,
            bodies.Finish,
            optional=True,
        ),
        Writing(
            "POST",
            f"{experiment}/scorers",
            "scorers_add",
            "Score the stored outputs by further graders, in the background",
            lambda sent: sent.scorings.start(sent.path["experiment"], sent.body),
            standing,
            bodies.NewScorers,
            202,
        ),
        Writing(
            "POST",
            "/v2/projects",
            "project_add",
            "Add a project; one of this name stays as it is",
            lambda sent: add_project(sent.bench, sent.body),
            "fairtrial.project/1",
            bodies.NewProject,
            201,
        ),
        Writing(
            "PUT",
            f"{project}/baseline",
            "project_baseline_set",
            "Set what a project's experiments are compared with",
            _set_baseline,
            "fairtrial.baseline/1",
            bodies.NewBaseline,
        ),
        Writing(
            "DELETE",
            f"{project}/baseline",
            "project_baseline_clear",
            "Clear what a project's experiments are compared with",
            lambda sent: exp_baseline(_at(sent), BaselineRequest("clear")),
            "fairtrial.baseline/1",
        ),
        Writing(
            "PUT",
            f"{project}/gate",
            "project_gate_set",
            "Set the rules of a project's release gate",
            lambda sent: set_rules(_at(sent), sent.body.rules),
            "fairtrial.gate_rules/1",
            bodies.NewRules,
        ),
        Writing(
            "DELETE",
            f"{project}/gate",
            "project_gate_clear",
            "Forget the rules of a project's release gate",
            lambda sent: clear_rules(_at(sent)),
            "fairtrial.gate_rules/1",
        ),
        Writing(
            "POST",
            "/v2/datasets/{dataset}/versions",
            "dataset_add",
            "Store cases as the newest version of a dataset",
            lambda sent: store_cases(sent.bench, sent.path["dataset"], sent.body.cases),
            "fairtrial.dataset_added/1",
            bodies.NewVersion,
            201,
        ),
        Writing(
            "POST",
            "/v2/keys",
            "key_create",
            "Make a key; it is shown this once",
            lambda sent: key_create(
                sent.bench,
                KeyRequest(sent.body.name, sent.body.scope, sent.body.project),
            ),
            "fairtrial.key_created/1",
            bodies.NewKey,
            201,
        ),
        Writing(
            "DELETE",
            "/v2/keys/{key}",
            "key_revoke",
            "Revoke a key",
            lambda sent: key_revoke(sent.bench, RevokeRequest(sent.path["key"])),
            "fairtrial.key_revoked/1",
        ),
    )


def writing_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter()
    scorings = Scorings(bench)
    for writing in writings():
        router.add_api_route(
            writing.path,
            _endpoint(bench, scorings, writing),
            methods=[writing.method],
            name=writing.name,
            operation_id=writing.name,
            summary=writing.summary,
            tags=[writing.path.split("/")[2]],
            status_code=writing.status,
            response_class=Response,
            responses=responses(writing.summary, writing.status, (writing.answers,)),
            openapi_extra=_described(writing),
        )
    return router


def _endpoint(bench: Bench, scorings: Scorings, writing: Writing) -> Callable[[Request], Any]:
    async def write(request: Request) -> Response:
        given = None
        if writing.body is not None:
            given = await body(request, writing.body, optional=writing.optional)
        known = await receipt(request) if writing.once else None
        sent = Sent(bench, scorings, names_of(request), given, known)
        # The store may take its time.
        return answer(await asyncio.to_thread(writing.run, sent), writing.status)

    return write


def _described(writing: Writing) -> dict[str, Any]:
    found: dict[str, Any] = {"parameters": []}
    for part in writing.path.split("/"):
        if part.startswith("{"):
            found["parameters"].append(
                {
                    "name": part.strip("{}"),
                    "in": "path",
                    "required": True,
                    "schema": {"type": "string", "minLength": 1},
                }
            )
    if writing.once:
        found["parameters"].append(
            {
                "name": KEY_HEADER,
                "in": "header",
                "required": False,
                "description": "The same request sent again with its key is done once only; keys "
                "are kept for 7 days",
                "schema": {"type": "string", "minLength": 1, "maxLength": 200},
            }
        )
    if writing.body is not None:
        schema = {"$ref": BODY_REF.format(name=writing.body.__name__)}
        found["requestBody"] = {
            "required": not writing.optional,
            "content": {"application/json": {"schema": schema}},
        }
    return found


def body_schemas() -> dict[str, Any]:
    """Return the schema of every body, by name."""
    kinds = [writing.body for writing in writings() if writing.body is not None]
    _, found = msgspec.json.schema_components(kinds, ref_template=BODY_REF)
    return found


def _open_in_project(sent: Sent) -> Any:
    if sent.body.baseline is not None:
        _check_ours(sent, sent.body.baseline, "baseline")
    return open_reported(sent.bench, sent.body, sent.receipt, sent.path["project"])


def _set_baseline(sent: Sent) -> Any:
    _check_ours(sent, sent.body.experiment, "experiment")
    return exp_baseline(_at(sent), BaselineRequest("set", sent.body.experiment))


def _check_ours(sent: Sent, ref: str, where: str) -> None:
    """Keep a project's experiments from those of others: a comparison shows rows of both.

    Raises:
        UsageError: the experiment is of another project.
        NotFoundError: there is none.
    """
    experiment = sent.bench.store.experiments.find(ref).experiment
    if experiment.provenance.cwd != project_named(sent.bench, sent.path["project"]).folder:
        raise UsageError(
            "the experiment is of another project",
            where=where,
            fix=f"name one that GET /v2/projects/{sent.path['project']}/experiments lists",
        )


def _at(sent: Sent) -> Bench:
    return bench_of(sent.bench, project_named(sent.bench, sent.path["project"]))

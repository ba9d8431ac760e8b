"""What is read of projects, of an experiment's rows and of a dataset's cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from fairtrial.app.bench import Bench
from fairtrial.app.exp_baseline import exp_baseline
from fairtrial.app.exp_list import exp_list
from fairtrial.app.filters import filter_of
from fairtrial.app.project_rules import kept_rules
from fairtrial.app.projects import all_projects, bench_of, in_folder, project_named
from fairtrial.app.reports.reported import ProjectReport
from fairtrial.app.requests.exp_baseline import Request as BaselineRequest
from fairtrial.app.requests.exp_list import Request as ListRequest
from fairtrial.app.row_options import Rows
from fairtrial.app.showing_rows import shown_rows
from fairtrial.app.stored_pages import CasesRequest, cases_page
from fairtrial.http.names_in_paths import names_of
from fairtrial.http.verb_routes import QUERY, answer, query_parameters, query_values, responses
from fairtrial.query.vocabularies.experiments import EXPERIMENT_VOCABULARY
from fairtrial.schema.decoding import decode

_CURSOR: Final = {"after": "cursor", "before": "cursor"}


def page_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter()

    def add(
        path: str,
        name: str,
        summary: str,
        form: str,
        read: Callable[[dict[str, str], Any], Any],
        query: type[Any] | None = None,
    ) -> None:
        def endpoint(request: Request) -> Response:
            asked = None
            values = query_values(request, query, _CURSOR)
            if query is not None:
                asked = decode(query, values, QUERY)
            return answer(read(names_of(request), asked))

        names = [part.strip("{}") for part in path.split("/") if part.startswith("{")]
        router.add_api_route(
            path,
            endpoint,
            methods=["GET"],
            name=name,
            operation_id=name,
            summary=summary,
            tags=[path.split("/")[2]],
            response_class=Response,
            responses=responses(summary, 200, (form,)),
            openapi_extra={
                "parameters": [
                    *(
                        {
                            "name": one,
                            "in": "path",
                            "required": True,
                            "schema": {"type": "string", "minLength": 1},
                        }
                        for one in names
                    ),
                    *([] if query is None else query_parameters(query, _CURSOR)),
                ]
            },
        )

    def rows(path: dict[str, str], asked: Rows) -> Any:
        state = bench.store.experiments.find(path["experiment"])
        return shown_rows(bench, state, asked.where, asked)

    def experiments(path: dict[str, str], asked: ListRequest) -> Any:
        here = in_folder(project_named(bench, path["project"]).folder)
        # Read alone, so that no bracket of it can end those around it.
        filter_of(bench, asked.where, EXPERIMENT_VOCABULARY)
        where = here if asked.where is None else f"{here} and ({asked.where})"
        return exp_list(bench, replace(asked, where=where))

    def at(path: dict[str, str]) -> Bench:
        return bench_of(bench, project_named(bench, path["project"]))

    add(
        "/v2/experiments/{experiment}/rows",
        "rows_list",
        "List the rows of an experiment, or those that a filter fits",
        "fairtrial.rows/1",
        rows,
        Rows,
    )
    add(
        "/v2/datasets/{dataset}/cases",
        "cases_list",
        "List the cases of a dataset version",
        "fairtrial.cases/1",
        lambda path, asked: cases_page(bench, path["dataset"], asked),
        CasesRequest,
    )
    add(
        "/v2/projects",
        "projects_list",
        "List the projects: that of the server's folder (`here`), and those that were added",
        "fairtrial.projects/1",
        lambda _path, _asked: all_projects(bench),
    )
    add(
        "/v2/projects/{project}",
        "project_show",
        "Show a project",
        "fairtrial.project/1",
        lambda path, _asked: ProjectReport(project_named(bench, path["project"])),
    )
    add(
        "/v2/projects/{project}/experiments",
        "project_experiments_list",
        "List the experiments of a project",
        "fairtrial.experiments/1",
        experiments,
        ListRequest,
    )
    add(
        "/v2/projects/{project}/baseline",
        "project_baseline_show",
        "Show what a project's experiments are compared with",
        "fairtrial.baseline/1",
        lambda path, _asked: exp_baseline(at(path), BaselineRequest()),
    )
    add(
        "/v2/projects/{project}/gate",
        "project_gate_show",
        "Show the rules of a project's release gate",
        "fairtrial.gate_rules/1",
        lambda path, _asked: kept_rules(at(path)),
    )
    return router

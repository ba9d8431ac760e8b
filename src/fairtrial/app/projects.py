"""Projects that other programs report experiments to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from ulid import ULID

from fairtrial.app.baselines import project_of
from fairtrial.app.bench import Bench
from fairtrial.app.reported_bodies import NewProject
from fairtrial.app.reports.reported import ProjectReport, ProjectsReport
from fairtrial.model.errors import NotFoundError
from fairtrial.model.reported import Project

HERE: Final = "here"
"""The id of the project that the server was started in; it is always there."""


def add_project(bench: Bench, request: NewProject) -> ProjectReport:
    """Keep a project; one that has the name already stays as it is."""
    now = bench.clock.now()
    # A folder of its own tells its baseline and its rules apart; nothing is put there.
    folder = bench.home / "projects" / request.name
    project = Project(f"prj_{ULID.from_datetime(now)}", request.name, str(folder), now)
    return ProjectReport(bench.store.reports.add_project(project))


def all_projects(bench: Bench) -> ProjectsReport:
    """Return the project of the server's folder, and all that were added."""
    return ProjectsReport((_here(bench), *bench.store.reports.projects()))


def project_named(bench: Bench, ref: str) -> Project:
    """Return the project with an id or a name.

    Raises:
        NotFoundError: there is none.
    """
    if ref == HERE:
        return _here(bench)
    for project in bench.store.reports.projects():
        if ref in (project.id, project.name):
            return project
    raise NotFoundError(f"there is no project {ref}", fix="see GET /v2/projects")


def in_folder(folder: str) -> str:
    """Return the filter of the experiments of a folder."""
    text = folder.replace("\\", "\\\\").replace("'", "\\'")
    return f"cwd = '{text}'"


def bench_of(bench: Bench, project: Project) -> Bench:
    """Return a bench at a project: its baseline and its rules count."""
    there = replace(bench, cwd=Path(project.folder))
    # One open store is enough.
    there.__dict__["store"] = bench.store
    return there


def _here(bench: Bench) -> Project:
    folder = project_of(bench.cwd)
    return Project(HERE, HERE, str(folder), bench.clock.now())

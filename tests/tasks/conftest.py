"""Tasks run for real: real processes in a real workspace."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.ports import Surroundings
from fairtrial.tasks.registry import build_task, task_spec
from fairtrial.workspaces.host.client import HostWorkspace

RunTask: TypeAlias = Callable[..., list[Any]]


@pytest.fixture
def run_task(tmp_path: Path) -> RunTask:
    """Return a function that opens the task of a spec, runs calls at once, and closes it.

    What a call raised stands in its place in the result.
    """

    def run(
        spec: dict[str, Any], *calls: TaskCall, environ: Mapping[str, str] | None = None
    ) -> list[TaskResult | BaseException]:
        return asyncio.run(_run(spec, calls, tmp_path, os.environ if environ is None else environ))

    return run


async def _run(
    spec: dict[str, Any], calls: tuple[TaskCall, ...], folder: Path, environ: Mapping[str, str]
) -> list[TaskResult | BaseException]:
    workspace = HostWorkspace(slots=4)
    task = build_task(task_spec(spec, "spec"), Surroundings(folder, environ, workspace), "spec")
    try:
        await task.open()
        return await asyncio.gather(*map(task.run, calls), return_exceptions=True)
    finally:
        await task.close()
        await workspace.close()


@pytest.fixture
def module(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[[str], str]]:
    """Return a function that writes a module into the spec's folder and gives its name."""
    path, known = list(sys.path), set(sys.modules)
    name = f"module_of_{abs(hash(request.node.nodeid))}"

    def write(source: str) -> str:
        (tmp_path / f"{name}.py").write_text(source)
        return name

    yield write
    sys.path[:] = path
    for new in set(sys.modules) - known:
        if new == name:
            del sys.modules[new]

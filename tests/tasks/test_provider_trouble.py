"""An exception that tells of the provider or the network is no fault of the task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from fairtrial.model.errors import InfraError, TaskError
from fairtrial.testing.task import call_of

RunTask: TypeAlias = Callable[..., list[Any]]
Module: TypeAlias = Callable[[str], str]

_SOURCE = """
import asyncio, http, socket, ssl

class Response:
    def __init__(self, status=None, headers=None):
        self.status_code, self.headers = status, headers

class Failed(Exception):
    def __init__(self, status=None, response=None):
        super().__init__("the provider said no")
        if status is not None:
            self.status_code = status
        self.response = response

class Sealed(Exception):
    @property
    def response(self):
        raise RuntimeError("no request was set")

FOR_9_S = {"Retry-After": "9"}
AT = {"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}
"""


def _run(run_task: RunTask, module: Module, error: str, prefix: str = "") -> Any:
    name = module(f"{_SOURCE}\n{prefix}def f(x):\n raise {error}\n")
    (problem,) = run_task({"kind": "python", "function": f"{name}:f"}, call_of("x"))
    return problem


@pytest.mark.parametrize("prefix", ["", "async "])
@pytest.mark.parametrize(
    ("error", "kind", "retry_after"),
    [
        ("Failed(429)", "rate_limit", None),
        ("Failed(429, Response(429, FOR_9_S))", "rate_limit", 9.0),
        ("Failed(response=Response(429, AT))", "rate_limit", 30.0),
        ("Failed(http.HTTPStatus.TOO_MANY_REQUESTS)", "rate_limit", None),
        ("Failed(408)", "server", None),
        ("Failed(500)", "server", None),
        ("Failed(529, Response(headers=FOR_9_S))", "server", 9.0),
        ("Failed(response=Response(503, FOR_9_S))", "server", 9.0),
        ("Failed(503, Response(headers={'retry-after': 'soon'}))", "server", None),
        ("Failed(401, Response(401, FOR_9_S))", "login", None),
        ("Failed(response=Response(403))", "login", None),
        ("ConnectionError('gone')", "network", None),
        ("ConnectionResetError('gone')", "network", None),
        ("socket.gaierror(-2, 'no such host')", "network", None),
        ("ssl.SSLError('bad certificate')", "network", None),
        ("TimeoutError('mine')", "network", None),
        ("asyncio.TimeoutError", "network", None),
    ],
)
def test_trouble_of_the_world(
    run_task: RunTask,
    module: Module,
    error: str,
    prefix: str,
    kind: str,
    retry_after: float | None,
) -> None:
    problem = _run(run_task, module, error, prefix)
    assert type(problem) is InfraError
    assert (problem.kind, problem.retry_after) == (kind, retry_after)
    assert str(problem).endswith("in f)")


@pytest.mark.parametrize(
    "error",
    [
        "Failed()",
        "Failed(200)",
        "Failed(400, Response(429))",
        "Failed(404)",
        "Failed('429')",
        "Failed(True)",
        "Failed(response=Response(422, FOR_9_S))",
        "Failed(response='429')",
        "Sealed",
        "OSError('disk')",
        "KeyError('answer')",
        "SystemExit(503)",
    ],
)
def test_anything_else_is_the_tasks_own(run_task: RunTask, module: Module, error: str) -> None:
    assert type(_run(run_task, module, error)) is TaskError

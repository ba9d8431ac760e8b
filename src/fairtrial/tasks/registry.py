"""The table of task kinds, and the way from a user's JSON to a task that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from fairtrial.model.case import Case
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.model.task import TaskSpec
from fairtrial.ports import Surroundings, Task
from fairtrial.schema.kinds import Kinds

TASKS: Final = Kinds(
    "task",
    {
        "command": "fairtrial.tasks.command",
        "http": "fairtrial.tasks.http",
        "python": "fairtrial.tasks.python",
        "prompt": "fairtrial.tasks.prompt",
        "continuation": "fairtrial.tasks.continuation",
        "agent": "fairtrial.tasks.agent",
    },
)

_TELLTALES: Final = {
    "command": "command",
    "url": "http",
    "function": "python",
    "template": "prompt",
    "messages": "prompt",
    "agent": "agent",
}
"""An option that only specs of one kind have, and the kind."""


_SHOW_ATTEMPTS: Final = ("python", "prompt")
_ENVELOPED: Final = ("command", "http")


def task_spec(value: Json, where: str) -> TaskSpec:
    """Return the task that a JSON object describes, with all of its options checked.

    Args:
        value: What the user wrote.
        where: What it comes from, for error messages.

    Raises:
        UsageError: no object, an unknown or missing kind, or options that do not fit it.
    """
    if not isinstance(value, Mapping):
        raise UsageError(
            f"a task is a JSON object, not {_kind_of_json(value)}",
            where=where,
            fix='write it like {"kind": "command", "command": "./my-task"}',
        )
    options = {name: option for name, option in value.items() if name != "kind"}
    kind = value.get("kind")
    if not isinstance(kind, str):
        raise UsageError(
            "the task has no 'kind'" if kind is None else "the task's 'kind' must be a text",
            where=where,
            fix=_advice(options),
        )
    TASKS.options(kind, options, where)
    return TaskSpec(kind, options)


def build_task(spec: TaskSpec, surroundings: Surroundings, where: str) -> Task:
    """Return the task behind a spec, ready to be opened.

    Args:
        spec: The task.
        surroundings: Where it is built: the spec's folder, the environment, the workspace.
        where: What the spec comes from, for error messages.

    Raises:
        UsageError: its options do not fit, or what they name does not exist.
    """
    options = TASKS.options(spec.kind, spec.options, where)
    task: Task = TASKS.module(spec.kind, where).build(options, surroundings, where)
    return task


def rehearse_task(spec: TaskSpec, case: Callable[[], Case], folder: Path, where: str) -> None:
    """Prepare a task's call for a case, and drop it; only kinds that can do so without a run do.

    Args:
        spec: The task.
        case: Loads a case that it is about to run.
        folder: Where relative paths start.
        where: What the spec comes from, for error messages.

    Raises:
        UsageError: it cannot be prepared, e.g. a template names what the case does not have.
    """
    rehearse = getattr(TASKS.module(spec.kind, where), "rehearse", None)
    if rehearse is not None:
        rehearse(TASKS.options(spec.kind, spec.options, where), case(), folder, where)


def check_shows_attempts(spec: TaskSpec, where: str) -> None:
    """Refuse a task that cannot show its program or model what an earlier attempt came to.

    Raises:
        UsageError: it cannot: a further attempt would only be the same once more.
    """
    if spec.kind in _SHOW_ATTEMPTS or spec.options.get("envelope") is True:
        return
    enveloped = spec.kind in _ENVELOPED
    raise UsageError(
        f"a {spec.kind} task cannot show earlier attempts"
        + (" without an envelope" if enveloped else ""),
        where=where,
        why="each attempt after the first is told what came of those before it",
        fix='add "envelope": true; they are then its "attempts"'
        if enveloped
        else "leave out --seq",
    )


def _advice(options: Mapping[str, Json]) -> str:
    for option, kind in _TELLTALES.items():
        if option in options:
            return f'add "kind": "{kind}"'
    return f'add "kind" with one of {", ".join(TASKS.modules)}'


def _kind_of_json(value: Json) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list"}
    return names.get(type(value), type(value).__name__)

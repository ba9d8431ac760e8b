"""The arms of `exp metrics`, from what a user wrote to tasks that measure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairtrial.app.paths import user_path
from fairtrial.app.spec_files import SUFFIXES, read_document
from fairtrial.model.errors import UsageError
from fairtrial.model.task import TaskSpec
from fairtrial.ports import Surroundings
from fairtrial.tasks.command import Options, build
from fairtrial.tasks.measuring import MeasuringTask
from fairtrial.tasks.registry import TASKS, task_spec

_HOW = "give two: --arm base='COMMAND' --arm cand='COMMAND'"


@dataclass(frozen=True, slots=True)
class MetricArm:
    """One command to measure.

    Attributes:
        name: Its name.
        task: The command task, its working directory absolute.
        time_limit_s: Seconds a run may take.
    """

    name: str
    task: TaskSpec
    time_limit_s: float


def metric_arms(
    words: tuple[str, ...], folder: Path, timeout_s: float
) -> tuple[MetricArm, MetricArm]:
    """Return the two arms that a command line names, A first.

    Args:
        words: `NAME=COMMAND`, `NAME=JSON` or `NAME=FILE`, each.
        folder: Where relative paths start.
        timeout_s: Time limit of a run, where an arm sets none.

    Raises:
        UsageError: not two, a name twice or missing, or a task that is no command.
        NotFoundError: a file does not exist.
    """
    if len(words) != 2:
        count = {0: "no arm", 1: "one arm only"}.get(len(words), f"{len(words)} arms")
        raise UsageError(f"{count}: two are compared", where="--arm", fix=_HOW)
    first, second = (_arm(word, folder, timeout_s) for word in words)
    if first.name == second.name:
        raise UsageError(
            f"both arms are called {first.name!r}", where="--arm", fix="give each its own name"
        )
    return first, second


def measuring_task(arm: MetricArm, surroundings: Surroundings) -> MeasuringTask:
    """Return the task that measures an arm's command.

    Raises:
        UsageError: the program, its folder or a variable it needs does not exist.
    """
    where = f"arm {arm.name}"
    options: Options = TASKS.options("command", arm.task.options, where)
    return MeasuringTask(build(options, surroundings, where), arm.time_limit_s)


def _arm(word: str, folder: Path, timeout_s: float) -> MetricArm:
    name, equals, text = word.partition("=")
    name, text = name.strip(), text.strip()
    if not equals or not name or not text:
        raise UsageError(f"{word!r} is not NAME=COMMAND", where="--arm", fix=_HOW)
    where = f"arm {name}"
    value, start = _value(text, folder, where)
    if not isinstance(value, Mapping):
        raise UsageError("an arm's task is a JSON object", where=where)
    options = dict(value)
    limit = _limit(options.pop("timeout", timeout_s), where)
    spec = task_spec(options, where)
    if spec.kind != "command":
        raise UsageError(
            f"only a command can be measured, not kind {spec.kind!r}",
            where=where,
            fix="write a command that calls it and prints its numbers as a JSON object",
        )
    cwd = user_path(spec.options.get("cwd") or "", start)
    return MetricArm(name, TaskSpec("command", {**spec.options, "cwd": str(cwd)}), limit)


def _value(text: str, folder: Path, where: str) -> tuple[Any, Path]:
    """Return an arm's task, and the folder that its relative paths start at."""
    if text.startswith("{"):
        try:
            return json.loads(text), folder
        except ValueError as error:
            raise UsageError(f"not JSON: {error}", where=where) from None
    path = user_path(text, folder)
    if Path(text).suffix in SUFFIXES and not any(map(str.isspace, text)):
        document = read_document(path)
        is_spec = isinstance(document, Mapping) and "task" in document
        return document["task"] if is_spec else document, path.parent
    return {"kind": "command", "command": text}, folder


def _limit(value: Any, where: str) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
    if not good:
        raise UsageError(
            f"'timeout' is a number of seconds above 0, not {value!r}", where=f"{where}, 'timeout'"
        )
    return float(value)

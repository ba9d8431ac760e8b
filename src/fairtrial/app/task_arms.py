"""The arms of a run: from what a user wrote to tasks that can be planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from fairtrial.app.bench import Bench
from fairtrial.app.paths import user_path
from fairtrial.app.requests.exp_run import Request
from fairtrial.app.settling import settled_task
from fairtrial.app.spec_files import SUFFIXES, json_value, read_document
from fairtrial.engine.plan import Arm
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json, content_hash
from fairtrial.model.task import TaskSpec
from fairtrial.model.wording import excerpt
from fairtrial.tasks.registry import task_spec

_LONGEST_NAME = 200
_HOW = "give two: --arm base=base.json --arm cand=cand.json"


LONGEST_NAME: Final = 200
"""Characters of the name of an arm, as of that of an experiment."""


@dataclass(frozen=True, slots=True)
class GivenArm:
    """An arm as it was given.

    Attributes:
        name: Its name.
        task: Its task as JSON.
        folder: Where relative paths in it start.
        where: What it comes from, for error messages.
    """

    name: str
    task: Json
    folder: Path
    where: str


def given_arms(bench: Bench, request: Request, folder: Path) -> tuple[GivenArm, ...]:
    """Return the arms that `--arm`, or `arms` in a spec, name, A first; none when none is given.

    Args:
        bench: The workbench.
        request: The request.
        folder: Where relative paths of the request start.

    Raises:
        UsageError: there are not two, a name is missing or twice, or one is no task.
        NotFoundError: a file does not exist.
    """
    arms = request.design.arms
    if not arms:
        return ()
    where = f"{request.spec}: arms" if isinstance(arms, Mapping) else "--arm"
    found = list(
        _of_mapping(arms, folder, where) if isinstance(arms, Mapping) else _of_words(bench, arms)
    )
    if request.task is not None:
        raise UsageError("both a task and arms are given", where=where, fix="leave one of them out")
    if len(found) != 2:
        count = "one arm only" if len(found) == 1 else f"{len(found)} arms"
        fix = f"{_HOW}; for more, write a spec with 'matrix' or 'variants'"
        raise UsageError(f"{count}: two are compared", where=where, fix=fix)
    names = [arm.name for arm in found]
    if names[0] == names[1]:
        raise UsageError(f"both arms are called {names[0]!r}", where=where, fix=_HOW)
    return tuple(found)


def settled_arms(bench: Bench, arms: Sequence[GivenArm]) -> tuple[Arm, ...]:
    """Return arms with all that their tasks leave open decided.

    Raises:
        UsageError: a task is wrong, or two arms have the same.
    """
    settled = tuple(Arm(arm.name, settled_arm(bench, arm)) for arm in arms)
    tasks: dict[str, str] = {}
    for arm, given in zip(settled, arms, strict=True):
        content = content_hash(arm.task.content())
        if content in tasks:
            named = f"{tasks[content]!r} and {arm.name!r} are the same task"
            raise UsageError(
                "both arms have the same task" if len(arms) == 2 else named,
                where=given.where,
                fix="to learn how much differs when nothing differs: fairtrial exp aa",
            )
        tasks[content] = arm.name
    return settled


def settled_arm(bench: Bench, arm: GivenArm) -> TaskSpec:
    """Return the task of an arm with all that it leaves open decided, and its own folder.

    Raises:
        UsageError: the task is wrong.
    """
    task = settled_task(bench, task_spec(arm.task, arm.where), arm.folder, arm.where)
    if task.kind != "command":
        return task
    # The run has one folder for all arms; a file elsewhere means its own.
    cwd = str(user_path(task.options.get("cwd") or "", arm.folder))
    return replace(task, options={**task.options, "cwd": cwd})


def _of_mapping(arms: Mapping[str, Any], folder: Path, where: str) -> Iterator[GivenArm]:
    for name, value in arms.items():
        yield given_arm(name, value, folder, f"{where}.{name}")


def _of_words(bench: Bench, words: Sequence[str]) -> Iterator[GivenArm]:
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name.strip() or not text.strip():
            raise UsageError(f"{word!r} is not NAME=JSON or NAME=FILE", where="--arm", fix=_HOW)
        check_arm_name(name.strip(), "--arm")
        yield given_arm(name.strip(), text.strip(), bench.cwd, f"--arm {name.strip()}")


def check_arm_name(name: str, where: str) -> None:
    """Refuse what cannot be told apart, typed or shown as the name of an arm.

    Raises:
        UsageError: the name is none.
    """
    if not name.strip() or not name.isprintable() or ":" in name or len(name) > LONGEST_NAME:
        fix = f"a name is one printable line of at most {LONGEST_NAME} characters without ':'"
        raise UsageError(f"{excerpt(repr(name), 80)} is no name of an arm", where=where, fix=fix)


def given_arm(name: str, value: Json, folder: Path, where: str) -> GivenArm:
    """Return an arm from its name and its task: JSON, as text or not, or a file.

    Raises:
        UsageError: the name is none, or the text is neither JSON nor a file of a known kind.
        NotFoundError: the file does not exist.
    """
    if not name.strip() or not name.isprintable() or ":" in name or len(name) > _LONGEST_NAME:
        fix = f"a name is one printable line without ':', of {_LONGEST_NAME} characters at most"
        raise UsageError(f"{name[:_LONGEST_NAME]!r} is no name of an arm", where=where, fix=fix)
    if not isinstance(value, str):
        return GivenArm(name, value, folder, where)
    if value.startswith("{"):
        try:
            return GivenArm(name, json_value(value), folder, where)
        except (RecursionError, ValueError) as error:
            raise UsageError(f"not JSON: {error}", where=where) from None
    if Path(value).suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        what = f"{value!r} is neither JSON nor a file of a known kind ({known})"
        raise UsageError(what, where=where, fix=_HOW)
    path = user_path(value, folder)
    document = read_document(path)
    is_spec = isinstance(document, Mapping) and "task" in document and "kind" not in document
    return GivenArm(name, document["task"] if is_spec else document, path.parent, f"{where} {path}")

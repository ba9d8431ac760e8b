"""Eval tasks as JSON: all of a version, and what its digest leaves out."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime

from fairtrial.model.eval_task import (
    Command,
    EvalTask,
    FolderStart,
    Origin,
    RepoStart,
    Verifier,
)
from fairtrial.model.json import Json
from fairtrial.store.codec import from_json, to_json


def to_body(task: EvalTask) -> bytes:
    """Return a task whole."""
    hidden = _encoded(task.verifier.hidden)
    return to_json(
        {
            "instruction": task.instruction,
            "start": {**asdict(task.start), "kind": task.start.content()["kind"]},
            "verifier": {**asdict(replace(task.verifier, hidden={})), "hidden": hidden},
            "setup": None if task.setup is None else asdict(task.setup),
            "agent_limit_s": task.agent_limit_s,
            "reference": task.reference,
            "near_misses": dict(task.near_misses),
            "solution": _encoded(task.solution),
            "facts": facts_of(task),
        }
    )


def from_body(data: bytes) -> EvalTask:
    """Return the task that `to_body` was given."""
    told = from_json(data)
    made = EvalTask(
        suite="",
        name="",
        instruction=told["instruction"],
        start=_start(told["start"]),
        verifier=_verifier(told["verifier"]),
        setup=None if told["setup"] is None else Command(**told["setup"]),
        agent_limit_s=told["agent_limit_s"],
        reference=told["reference"],
        near_misses=told["near_misses"],
        solution=_decoded(told.get("solution", {})),
    )
    return with_facts(made, told["facts"])


def facts_of(task: EvalTask) -> dict[str, Json]:
    """Return what tasks of one digest may differ in, as JSON."""
    start = task.start if isinstance(task.start, RepoStart) else None
    return {
        "suite": task.suite,
        "name": task.name,
        "tags": list(task.tags),
        "metadata": dict(task.metadata),
        "origin": None if task.origin is None else _plain(task.origin),
        "repo": None if start is None else start.repo,
        "grade": None if start is None else start.grade,
        "unknown": [] if start is None else list(start.unknown),
    }


def with_facts(task: EvalTask, told: Json) -> EvalTask:
    """Return a version with the facts that `facts_of` gave."""
    start = task.start
    if isinstance(start, RepoStart):
        repo, grade, unknown = told["repo"], told["grade"], tuple(told["unknown"])
        start = replace(start, repo=repo, grade=grade, unknown=unknown)
    return replace(
        task,
        suite=told["suite"],
        name=told["name"],
        start=start,
        tags=tuple(told["tags"]),
        metadata=told["metadata"],
        origin=None if told["origin"] is None else _origin(told["origin"]),
    )


def _start(told: dict[str, Json]) -> RepoStart | FolderStart:
    fields = {name: value for name, value in told.items() if name != "kind"}
    if told["kind"] == "folder":
        return FolderStart(**fields)
    return RepoStart(**{**fields, "unknown": tuple(fields["unknown"])})


def _verifier(told: dict[str, Json]) -> Verifier:
    return Verifier(
        command=None if told["command"] is None else Command(**told["command"]),
        judge=told["judge"],
        hidden=_decoded(told["hidden"]),
        patterns=tuple(told["patterns"]),
        protected=tuple(told["protected"]),
        place=told.get("place"),
    )


def _encoded(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: base64.b64encode(data).decode() for path, data in files.items()}


def _decoded(told: Mapping[str, str]) -> dict[str, bytes]:
    return {path: base64.b64decode(text) for path, text in told.items()}


def _plain(origin: Origin) -> dict[str, Json]:
    ended = origin.ended_at
    return {**asdict(origin), "ended_at": None if ended is None else ended.isoformat()}


def _origin(told: dict[str, Json]) -> Origin:
    ended = told["ended_at"]
    at = None if ended is None else datetime.fromisoformat(ended)
    return Origin(told["session"], told["agent"], tuple(told["flags"]), at)

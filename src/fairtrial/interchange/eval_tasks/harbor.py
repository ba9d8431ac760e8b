"""Harbor's task folders: `task.toml` (schema 1.0 to 1.4), an image, tests, a solution."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from fairtrial.interchange.eval_tasks.foreign import (
    NETWORK,
    ForeignTask,
    contents_below,
    fetches,
    files_below,
    text_of,
    unknown_keys,
)
from fairtrial.model.errors import UsageError
from fairtrial.model.eval_task import TESTS, Command, EvalTask, FolderStart, Verifier

FILE: Final = "task.toml"
TEST: Final = "tests/test.sh"
_KNOWN_SCHEMAS: Final = ("1.0", "1.1", "1.2", "1.3", "1.4")
_USUAL_BUILD_S: Final = 600.0
_SIZES: Final = {"K": 1 / 1024, "M": 1.0, "G": 1024.0}
_COMPOSE: Final = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml")
_KNOWN: Final[dict[str, Any]] = {
    "schema_version": 0,
    "version": 0,
    "task": {"name": 0, "version": 0, "description": 0, "authors": None, "keywords": 0},
    "metadata": None,
    "agent": {"timeout_sec": 0},
    "verifier": {"timeout_sec": 0, "env": None},
    "environment": {
        "build_timeout_sec": 0, "docker_image": 0, "os": 0, "cpus": 0, "memory_mb": 0, "memory": 0,
        "workdir": 0, "storage_mb": 0, "storage": 0, "allow_internet": 0, "network_mode": 0,
    },
    "solution": {},
}  # fmt: skip


def is_harbor(folder: Path) -> bool:
    """Return whether a folder is a task of Harbor's, and none of fairtrial's own.

    Fairtrial's own says in `task.toml` how it begins, or what command or judge verifies it.
    """
    if not (folder / FILE).is_file():
        return False
    try:
        tables = tomllib.loads(text_of(folder / FILE))
    except (tomllib.TOMLDecodeError, UsageError):
        return False
    verifier = tables.get("verifier")
    own = isinstance(verifier, Mapping) and not verifier.keys().isdisjoint({"command", "judge"})
    return not own and "start" not in tables


def read(folder: Path) -> ForeignTask:
    """Return the task of a folder.

    Raises:
        UsageError: it does not fit, or needs what fairtrial does not have.
    """
    where = str(folder / FILE)
    try:
        tables = tomllib.loads(text_of(folder / FILE))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"this is no TOML: {error}", where=where) from None
    for name in ("task", "metadata", "agent", "verifier", "environment", "solution"):
        if not isinstance(tables.get(name, {}), Mapping):
            raise UsageError(f"[{name}] must be a table", where=where)
    _refuse(folder, tables)
    agent, environment = tables.get("agent", {}), tables.get("environment", {})
    solution = contents_below(folder / "solution") if (folder / "solution").is_dir() else {}
    facts: dict[str, Any] = msgspec.to_builtins(tables.get("metadata", {}))
    task = EvalTask(
        suite="",
        name=folder.name,
        instruction=text_of(folder / "instruction.md"),
        start=_start(folder, environment, where),
        verifier=_verifier(folder, tables.get("verifier", {}), where),
        agent_limit_s=_seconds(agent, "agent", 1800.0, where),
        tags=_tags(tables, facts),
        metadata={name: fact for name, fact in facts.items() if name != "tags"},
        solution=solution if "solve.sh" in solution else {},
    )
    folders = folder / "environment"
    context = files_below(folders) if folders.is_dir() else {}
    return ForeignTask(task, context, tuple(_lost(tables, task)))


def _refuse(folder: Path, tables: Mapping[str, Any]) -> None:
    """Refuse a task that would not be the same task here."""
    environment, verifier = tables.get("environment", {}), tables.get("verifier", {})
    compose = [name for name in _COMPOSE if (folder / "environment" / name).is_file()]
    separate = verifier.get("environment_mode") == "separate" or "environment" in verifier
    reasons = {
        "it has several steps, and a trial is one": "steps" in tables
        or (folder / "steps").is_dir(),
        f"it needs {''.join(compose[:1])}: a trial is one container": bool(compose),
        "it is for Windows": str(environment.get("os", "linux")).lower() != "linux",
        "its verifier has an image of its own": separate,
        "its verifier collects from services": "collect" in verifier,
        "it needs MCP servers": bool(environment.get("mcp_servers")),
        "it waits for a health check": "healthcheck" in environment,
        "it needs a GPU or TPU": bool(environment.get("gpus")) or "tpu" in environment,
        "it begins in the middle of a conversation": (folder / "trajectory.json").is_file(),
        f"there is no {TEST}": not (folder / TEST).is_file(),
        "there is no instruction.md": not (folder / "instruction.md").is_file(),
        "there is neither environment/Dockerfile nor a docker_image": not (
            (folder / "environment" / "Dockerfile").is_file() or environment.get("docker_image")
        ),
    }
    found = [reason for reason, holds in reasons.items() if holds]
    if found:
        raise UsageError("; ".join(found), where=str(folder))


def _start(folder: Path, told: Mapping[str, Any], where: str) -> FolderStart:
    file = folder / "environment" / "Dockerfile"
    cpus = told.get("cpus")
    if cpus is not None and (isinstance(cpus, bool) or not isinstance(cpus, int | float)):
        raise UsageError(f"[environment] cpus must be a number, not {cpus!r}", where=where)
    for name in ("docker_image", "workdir"):
        if not isinstance(told.get(name), str | None):
            raise UsageError(f"[environment] {name} must be a text", where=where)
    dockerfile = text_of(file) if file.is_file() else None
    return FolderStart(
        files={},
        # An image that stands ready is a copy of what the Dockerfile builds.
        image=None if dockerfile is not None else told.get("docker_image"),
        dockerfile=dockerfile,
        workdir=told.get("workdir"),
        memory_mb=_memory(told, where),
        cpus=None if cpus is None else float(cpus),
        build_limit_s=_build_limit(told, where) if dockerfile is not None else None,
    )


def _build_limit(told: Mapping[str, Any], where: str) -> float | None:
    seconds = {"timeout_sec": told.get("build_timeout_sec")}
    limit = _seconds(seconds, "environment", _USUAL_BUILD_S, where)
    return None if limit == _USUAL_BUILD_S else limit


def _memory(told: Mapping[str, Any], where: str) -> int | None:
    """Return the megabytes that a task asks for, also in the words of older schemas."""
    size = told.get("memory_mb", told.get("memory"))
    if isinstance(size, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG])I?B?\s*", size.upper())
        size = round(float(match[1]) * _SIZES[match[2]]) if match else None
    elif size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, int) or size <= 0:
        raise UsageError("[environment] memory must be a size, such as 2048 or '2G'", where=where)
    return size


def _verifier(folder: Path, told: Mapping[str, Any], where: str) -> Verifier:
    env = told.get("env", {})
    if not isinstance(env, Mapping) or not all(isinstance(value, str) for value in env.values()):
        raise UsageError("[verifier] env must be a table of texts", where=where)
    limit = _seconds(told, "verifier", 600.0, where)
    line = f"chmod +x {TESTS}/test.sh && {TESTS}/test.sh"
    hidden = contents_below(folder / "tests")
    return Verifier(Command(line, limit, dict(env)), None, hidden, place=TESTS)


def _seconds(told: Mapping[str, Any], table: str, usual: float, where: str) -> float:
    value = told.get("timeout_sec")
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 604_800:
        raise UsageError(f"[{table}] timeout_sec must be seconds, up to a week", where=where)
    return float(value)


def _tags(tables: Mapping[str, Any], facts: Mapping[str, Any]) -> tuple[str, ...]:
    words = [*_list(facts.get("tags")), *_list(tables.get("task", {}).get("keywords"))]
    return tuple(dict.fromkeys(str(word) for word in words))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _lost(tables: Mapping[str, Any], task: EvalTask) -> list[str]:
    lost = []
    unknown = unknown_keys(tables, _KNOWN)
    if unknown:
        keys = "1 key" if len(unknown) == 1 else f"{len(unknown):,} keys"
        lost.append(f"{keys} of task.toml mean nothing here: {', '.join(sorted(unknown)[:8])}")
    environment = tables.get("environment", {})
    schema = str(tables.get("schema_version", tables.get("version", "1.0")))
    if schema not in _KNOWN_SCHEMAS:
        lost.append(f"its schema {schema} is not known; it was read as {_KNOWN_SCHEMAS[-1]}")
    if "storage_mb" in environment or "storage" in environment:
        lost.append("its disk is not limited")
    public = environment.get("network_mode", "public" if environment.get("allow_internet") else "")
    if public in {"public", "allowlist"}:
        lost.append(NETWORK)
    script = task.verifier.hidden["test.sh"].decode("utf-8", "replace")
    line = fetches(script)
    if line is not None:
        lost.append(f"tests/test.sh seems to fetch, and will fail: {line[:80]}")
    return lost

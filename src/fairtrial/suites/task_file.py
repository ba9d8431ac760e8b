"""`task.toml`: what an eval task's folder says of it, in Harbor's words where Harbor has one.

Keys that are not known here are passed over, as Harbor passes over those of others; a key of a
table of fairtrial's own that is not known is refused, since it is most likely misspelt.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from fairtrial.model.errors import UsageError
from fairtrial.schema.decoding import unknown_name
from fairtrial.suites.task_values import MOST_LEVELS, impossible_values, is_too_deep

FILE: Final = "task.toml"
BUILD_LIMIT_S: Final = 600.0
"""Seconds that building an image, or a setup, may take when a task does not say."""

Seconds = Annotated[float, Meta(gt=0, le=7 * 86_400)]


@dataclass(frozen=True, slots=True)
class AgentTable:
    """`[agent]`."""

    timeout_sec: Seconds = 1800.0


@dataclass(frozen=True, slots=True)
class VerifierTable:
    """`[verifier]`.

    Attributes:
        timeout_sec: Seconds the verifier may take.
        command: What verifies; not given, it is the script `tests/test.sh`, as in Harbor.
        judge: A judge grader in place of a command.
        hidden: Globs of files of the workspace that only the verifier sees.
        protected: Globs of files that are put back as they were before the verifier runs.
        env: Variables that the verifier sees.
    """

    timeout_sec: Seconds = 600.0
    command: str | None = None
    judge: dict[str, Any] | None = None
    hidden: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EnvironmentTable:
    """`[environment]`.

    Attributes:
        docker_image: An image that stands ready.
        workdir: Where the workspace lies in the image.
        setup: A command that makes the workspace ready before the agent works in it.
        build_timeout_sec: Seconds that building the image, or the setup, may take.
        memory_mb: Megabytes of memory that programs may use in the image.
        cpus: Processors that they may use in it.
    """

    docker_image: str | None = None
    workdir: str | None = None
    setup: str | None = None
    build_timeout_sec: Seconds = BUILD_LIMIT_S
    memory_mb: Annotated[int, Meta(ge=16)] | None = None
    cpus: Annotated[float, Meta(gt=0)] | None = None


@dataclass(frozen=True, slots=True)
class StartTable:
    """`[start]`: the workspace as it was before a session; fairtrial's own table.

    Attributes:
        repo: The repository, relative to the one that the suite lies in, or absolute.
        commit: The commit that was checked out.
        snapshot: The snapshot that holds the state.
        patch: A file beside this one: what differed from the commit.
        grade: How sure the state is.
        unknown: What could not be known of it.
    """

    repo: str = "."
    commit: str | None = None
    snapshot: str | None = None
    patch: str | None = None
    grade: str = "exact"
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OriginTable:
    """`[origin]`: the session that the task was made from; fairtrial's own table."""

    session: str
    agent: str
    flags: tuple[str, ...] = ()
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A `task.toml`.

    Attributes:
        agent: Its table `agent`.
        verifier: Its table `verifier`.
        environment: Its table `environment`.
        start: None when the workspace is the folder `environment`.
        origin: None when the task was not made from a session.
        metadata: Facts that fairtrial passes on; `tags` among them.
        keywords: Harbor's newer place for tags.
    """

    agent: AgentTable = field(default_factory=AgentTable)
    verifier: VerifierTable = field(default_factory=VerifierTable)
    environment: EnvironmentTable = field(default_factory=EnvironmentTable)
    start: StartTable | None = None
    origin: OriginTable | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()


_OWN: Final = {"start": StartTable, "origin": OriginTable}
_HARBORS: Final = {"agent": AgentTable, "verifier": VerifierTable, "environment": EnvironmentTable}


def parsed(text: str, where: str) -> TaskFile:
    """Return what the text of a `task.toml` says.

    Args:
        text: The text.
        where: Its path, for error messages.

    Raises:
        UsageError: it is no TOML, or a key has a value that does not fit; all are told at once.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"this is no TOML: {error}", where=where) from None
    except RecursionError:
        tables = None
    if tables is None or is_too_deep(tables):
        raise UsageError(
            f"tables and lists lie over {MOST_LEVELS} levels deep in each other", where=where
        )
    problems: list[str] = []
    told: dict[str, Any] = {}
    for name, kind in {**_HARBORS, **_OWN}.items():
        if name in tables:
            table = _table(name, tables[name], kind, problems)
            if table is not None:
                told[name] = table
    told["metadata"] = _facts(tables, problems)
    told["keywords"] = _keywords(tables)
    if problems:
        raise UsageError("; ".join(problems), where=where)
    file = TaskFile(**told)
    problems += impossible_values(file)
    if problems:
        raise UsageError("; ".join(problems), where=where)
    return file


def _table(name: str, value: Any, kind: type[Any], problems: list[str]) -> Any:
    if not isinstance(value, Mapping):
        problems.append(f"[{name}] must be a table")
        return None
    known = [field.name for field in dataclasses.fields(kind)]
    if name in _OWN:
        problems += [f"[{name}] {unknown_name(key, known)}" for key in value if key not in known]
    try:
        return msgspec.convert({key: value[key] for key in value if key in known}, kind)
    except msgspec.ValidationError as error:
        problems.append(f"[{name}] {_sentence(error)}")
        return None


def _facts(tables: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    facts = tables.get("metadata", {})
    if not isinstance(facts, Mapping):
        problems.append("[metadata] must be a table")
        return {}
    # Dates and times, which TOML has and JSON has not, become texts.
    plain: dict[str, Any] = msgspec.to_builtins(facts)
    if _words(plain.get("tags", ())) is None:
        problems.append("[metadata] tags must be a list of texts")
    return plain


def _keywords(tables: Mapping[str, Any]) -> tuple[str, ...]:
    task = tables.get("task")
    return (_words(task.get("keywords", ())) or ()) if isinstance(task, Mapping) else ()


def _words(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, (list, tuple)) and all(isinstance(word, str) for word in value):
        return tuple(value)
    return None


def _sentence(error: msgspec.ValidationError) -> str:
    return str(error).replace("Expected", "expected").replace("`", "").replace(" - at $.", " at ")

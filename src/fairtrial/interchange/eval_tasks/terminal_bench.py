"""Terminal-bench's task folders: `task.yaml`, `run-tests.sh`, a Dockerfile, `solution.sh`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from fairtrial.interchange.eval_tasks.foreign import (
    ForeignTask,
    contents_below,
    fetches,
    files_below,
    text_of,
)
from fairtrial.model.errors import UsageError
from fairtrial.model.eval_task import TESTS, Command, EvalTask, FolderStart, Verifier

FILE: Final = "task.yaml"
_COMPOSE: Final = "docker-compose.yaml"
_NOT_CONTEXT: Final = (FILE, _COMPOSE, "run-tests.sh", "solution.sh", "solution.yaml", "Dockerfile")
_SERVICE: Final = {"build", "image", "container_name", "command", "environment", "volumes"}
_FACTS: Final = (
    "author_name", "author_email", "difficulty", "category", "estimated_duration_sec",
    "expert_time_estimate_min", "junior_time_estimate_min",
)  # fmt: skip
_KNOWN: Final = {
    *_FACTS, "instruction", "descriptions", "tags", "parser_name", "max_agent_timeout_sec",
    "max_test_timeout_sec", "run_tests_in_same_shell", "disable_asciinema",
}  # fmt: skip


def is_terminal_bench(folder: Path) -> bool:
    """Return whether a folder is a task of terminal-bench's."""
    return (folder / FILE).is_file()


def read(folder: Path) -> ForeignTask:
    """Return the task of a folder.

    Raises:
        UsageError: it does not fit, or needs what fairtrial does not have.
    """
    where = str(folder / FILE)
    told = _yaml(folder / FILE)
    if not (folder / "run-tests.sh").is_file():
        raise UsageError("there is no run-tests.sh", where=str(folder))
    _check_services(folder)
    if not (folder / "Dockerfile").is_file():
        raise UsageError("there is no Dockerfile", where=str(folder))
    script = text_of(folder / "run-tests.sh")
    solution, lost = _solution(folder)
    if told.get("run_tests_in_same_shell"):
        lost.append("the tests run in a shell of their own, not in the agent's")
    if told.get("parser_name", "pytest") != "pytest":
        lost.append("what the tests print is not parsed: run-tests.sh passes with exit status 0")
    line = fetches(script)
    if line is not None:
        lost.append(f"run-tests.sh seems to fetch, and will fail without a network: {line[:80]}")
    unknown = sorted(str(key) for key in told.keys() - _KNOWN)
    if unknown:
        keys = "1 key" if len(unknown) == 1 else f"{len(unknown):,} keys"
        lost.append(f"{keys} of {FILE} mean nothing here: {', '.join(unknown[:8])}")
    tests = contents_below(folder / "tests") if (folder / "tests").is_dir() else {}
    limit = _seconds(told, "max_test_timeout_sec", 60.0, where)
    command = Command(f"chmod +x {TESTS}/test.sh && {TESTS}/test.sh", limit, {"TEST_DIR": TESTS})
    hidden = {**tests, "test.sh": script.encode()}
    task = EvalTask(
        suite="",
        name=folder.name,
        instruction=_instruction(told, where),
        start=FolderStart(files={}, dockerfile=text_of(folder / "Dockerfile")),
        verifier=Verifier(command, None, hidden, place=TESTS),
        agent_limit_s=_seconds(told, "max_agent_timeout_sec", 360.0, where),
        tags=tuple(str(tag) for tag in told.get("tags") or ()),
        metadata={key: told[key] for key in _FACTS if told.get(key) is not None},
        solution=solution,
    )
    context = {
        name: path
        for name, path in files_below(folder).items()
        if name not in _NOT_CONTEXT and not name.startswith("tests/")
    }
    return ForeignTask(task, {**context, "Dockerfile": folder / "Dockerfile"}, tuple(lost))


def _yaml(path: Path) -> Mapping[str, Any]:
    import yaml  # noqa: PLC0415  # only foreign tasks need it

    try:
        told = yaml.safe_load(text_of(path))
    except (yaml.YAMLError, RecursionError) as error:
        problem = " ".join(str(error).split())[:200]
        raise UsageError(f"this is no YAML: {problem}", where=str(path)) from None
    if not isinstance(told, Mapping):
        raise UsageError("this must be a table of keys", where=str(path))
    return told


def _instruction(told: Mapping[str, Any], where: str) -> str:
    text = told.get("instruction")
    if text is None:  # the oldest tasks have several, by difficulty
        for one in told.get("descriptions") or ():
            if isinstance(one, Mapping) and one.get("key") == "base":
                text = one.get("description")
    if not isinstance(text, str) or not text.strip():
        raise UsageError("the agent is told nothing: there is no 'instruction'", where=where)
    return text if text.endswith("\n") else f"{text}\n"


def _check_services(folder: Path) -> None:
    """Refuse services beside the one that the agent works in, and what it needs of the machine."""
    file = folder / _COMPOSE
    if not file.is_file():
        return
    services = _yaml(file).get("services")
    if not isinstance(services, Mapping) or len(services) != 1:
        count = len(services) if isinstance(services, Mapping) else 0
        raise UsageError(f"it has {count} services: a trial is one container", where=str(file))
    ((name, service),) = services.items()
    if not isinstance(service, Mapping):
        raise UsageError(f"the service {name} must be a table", where=str(file))
    build = service.get("build", ".")
    context = build.get("context", ".") if isinstance(build, Mapping) else build
    dockerfile = build.get("dockerfile", "Dockerfile") if isinstance(build, Mapping) else None
    more = sorted(service.keys() - _SERVICE)
    own = [word for word in _words(service.get("volumes")) if "T_BENCH_" not in word]
    env = [word for word in _words(service.get("environment")) if not word.startswith("TEST_DIR")]
    reasons = {
        f"it is built in {context!r}, not in its own folder": context not in {".", "./"},
        f"it is built from {dockerfile!r}": dockerfile not in {None, "Dockerfile", "./Dockerfile"},
        f"the service needs {', '.join(more)}": bool(more),
        f"it mounts {', '.join(own)}": bool(own),
        f"it sets {', '.join(env)}: write it into the Dockerfile": bool(env),
    }
    found = [reason for reason, holds in reasons.items() if holds]
    if found:
        raise UsageError("; ".join(found), where=str(file))


def _words(told: Any) -> list[str]:
    if isinstance(told, Mapping):
        return [f"{key}={value}" for key, value in told.items()]
    return [str(word) for word in told or ()]


def _solution(folder: Path) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of the solution, and what of it cannot be held."""
    if (folder / "solution.sh").is_file():
        return {"solve.sh": text_of(folder / "solution.sh").encode()}, []
    if not (folder / "solution.yaml").is_file():
        return {}, []
    import yaml  # noqa: PLC0415  # only foreign tasks need it

    try:
        steps = yaml.safe_load(text_of(folder / "solution.yaml"))
    except (yaml.YAMLError, RecursionError):
        steps = None
    lines = [step.get("command") for step in steps or () if isinstance(step, Mapping)]
    typed = not lines or any(
        not isinstance(line, str) or step.get("append_enter") is False
        for line, step in zip(lines, steps or (), strict=False)
    )
    if typed:
        return {}, ["solution.yaml types keys into a terminal: there is no reference"]
    script = "#!/bin/sh\nset -e\n" + "\n".join(str(line) for line in lines) + "\n"
    return {"solve.sh": script.encode()}, []


def _seconds(told: Mapping[str, Any], key: str, usual: float, where: str) -> float:
    value = told.get(key)
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 604_800:
        raise UsageError(f"{key} must be seconds, up to a week", where=where)
    return float(value)

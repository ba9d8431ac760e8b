"""What makes a task odd, though its verdicts can be believed. It only warns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from fairtrial.model.eval_task import EvalTask, RepoStart
from fairtrial.model.start_state import Grade
from fairtrial.suites.validation.findings import Check, Checked, Finding
from fairtrial.suites.validation.reference import paths_in
from fairtrial.suites.validation.trying import Tried

_PATH: Final = re.compile(r"(?<![\w/:.@-])(?:[\w.-]+/)+[\w-]+\.[A-Za-z]\w{0,4}(?![\w/-])")
_MOST_PATHS: Final = 3
_SHORT_S: Final = 60.0
_LONG_S: Final = 6 * 3600.0
_LONG_VERIFIER_S: Final = 3600.0
_NEAR: Final = 0.5
_NODE: Final = re.compile(r"\b(?:npm|npx|yarn|pnpm|vitest|jest|mocha|tsc|eslint|node_modules)\b")
_VENV: Final = re.compile(r"(?<![\w/])(\.?venv)/bin/")


def check_lint(task: EvalTask, root: Path, tries: Sequence[Tried]) -> Checked:
    """Look for what is most likely a mistake.

    Args:
        task: The task.
        root: A copy of its workspace.
        tries: What its verifier said, and how long that took.
    """
    warnings = [
        *_missing_paths(task, root),
        *_limits(task, tries),
        *_setup(task, root),
        *_unseen(task),
    ]
    return Checked(Check.LINT, warnings=tuple(warnings))


def _missing_paths(task: EvalTask, root: Path) -> Iterator[Finding]:
    made = set(paths_in(task.reference or "")) | set(task.verifier.hidden_paths)
    named = dict.fromkeys(_PATH.findall(task.instruction))
    gone = [
        path
        for path in named
        if PurePosixPath(path).as_posix() not in made and not _is_there(root, path)
    ]
    for path in gone[:_MOST_PATHS]:
        yield Finding(
            f"the instruction names {path}, which is not in the workspace",
            "fine if the agent is to make it; else the start is another one, or it is hidden",
        )


def _is_there(root: Path, path: str) -> bool:
    # Many name a file from a folder of their own, such as src/a.py in packages/b.
    try:
        return (root / path).exists() or next(root.rglob(path), None) is not None
    except (OSError, ValueError, NotImplementedError):
        return False


def _limits(task: EvalTask, tries: Sequence[Tried]) -> Iterator[Finding]:
    limit = task.agent_limit_s
    if limit < _SHORT_S:
        yield Finding(f"the agent has {limit:g} s, in which few agents do anything")
    if limit > _LONG_S:
        yield Finding(f"the agent has {limit / 3600:g} hours: one that hangs holds up a run")
    command = task.verifier.command
    if command is None:
        return
    if command.time_limit_s > _LONG_VERIFIER_S:
        yield Finding(f"the verifier may take {command.time_limit_s / 3600:g} hours")
    seconds = [
        float(taken)
        for tried in tries
        if isinstance(taken := tried.detail.get("duration_s"), int | float)
        and not tried.detail.get("timed_out")
    ]
    if seconds and max(seconds) > _NEAR * command.time_limit_s:
        yield Finding(
            f"the verifier took {max(seconds):.1f} s of its {command.time_limit_s:g} s",
            "raise timeout_sec in [verifier]: a busy machine would fail right changes",
        )


def _setup(task: EvalTask, root: Path) -> Iterator[Finding]:
    """Yield what the verifier needs, git ignores, and no setup makes."""
    command = task.verifier.command
    if command is None or task.setup is not None:
        return
    package = root / "package.json"
    if _NODE.search(command.line) and package.is_file() and not (root / "node_modules").exists():
        try:
            needs = "ependencies" in package.read_text(encoding="utf-8", errors="replace")
        except OSError:
            needs = False
        if needs:
            yield Finding(
                "node_modules is not in the workspace, and there is no setup",
                'add setup = "npm ci" to [environment] of task.toml',
            )
    match = _VENV.search(command.line)
    if match and not (root / match[1]).exists():
        yield Finding(
            f"{match[1]} is not in the workspace, and there is no setup",
            "add a setup to [environment] of task.toml that makes it",
        )


def _unseen(task: EvalTask) -> Iterator[Finding]:
    start = task.start
    if isinstance(start, RepoStart) and start.grade == Grade.GUESSED:
        yield Finding(
            "how the workspace begins is a guess",
            "compare it with the session: fairtrial sessions checkout",
        )

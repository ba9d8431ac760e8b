"""No way leads from a trial to the repository, or to the task's own folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fairtrial.model.eval_task import EvalTask, RepoStart
from fairtrial.model.isolation import Level, Wanted
from fairtrial.ports import ProcessCall
from fairtrial.ports.suites import EvalTasks
from fairtrial.suites.task_file import FILE
from fairtrial.suites.validation.findings import Finding

_LIMIT_S = 60.0
_TEST = 'for path; do if [ -e "$path" ]; then printf "%s\\0" "$path"; fi; done'


async def reachable(
    evals: EvalTasks, task: EvalTask, folder: str, environ: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Return what of the user's a program at level `bwrap` can read and must not.

    Args:
        evals: The eval tasks.
        task: The task.
        folder: Its folder, with its hidden files and its reference.
        environ: The environment that the program gets.
    """
    paths = list(_paths(task, folder))
    repo = await evals.prepared(task.digest, {})
    async with evals.workspace(repo, Wanted(Level.BWRAP)) as place:
        ended = await place.run(
            ProcessCall(
                argv=("/bin/sh", "-c", _TEST, "sh", *paths),
                stdin=b"",
                env=environ,
                cwd=Path(place.path),
                time_limit_s=_LIMIT_S,
                max_output_bytes=1024 * 1024,
            )
        )
    return _told([path.decode("utf-8", "replace") for path in ended.stdout.split(b"\0") if path])


def _told(seen: Sequence[str]) -> tuple[Finding, ...]:
    fix = "move it out of the folders that PATH names or that are shown, or take those off PATH"
    return tuple(Finding(f"the agent can read {path}", fix) for path in seen)


def _paths(task: EvalTask, folder: str) -> Iterator[str]:
    # A folder alone may be there as the way to one that is shown, such as a virtual environment.
    if isinstance(task.start, RepoStart):
        yield f"{task.start.repo}/.git"
    yield f"{folder}/{FILE}"

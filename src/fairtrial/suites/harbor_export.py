"""An eval task as a folder that Harbor runs, and that fairtrial reads back."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from fairtrial.model.errors import UsageError
from fairtrial.model.eval_task import LOGS, SOLUTION, SOLVE, TESTS, EvalTask, FolderStart
from fairtrial.suites.folders import (
    DOCKERFILE,
    ENVIRONMENT,
    HIDDEN,
    REFERENCE,
    SOLUTION_FOLDER,
    TEST_SCRIPT,
    TESTS_FOLDER,
)
from fairtrial.suites.writing import write_task

WORKDIR: Final = "/workspace"
_WORKSPACE, _PROTECTED, _COMMAND, _SETUP = "workspace", "protected", "verify.sh", "setup.sh"
_REWARD: Final = "/tmp/fairtrial-reward"  # noqa: S108  # inside the container
_TEST: Final = f"""\
#!/bin/sh
# Puts back what may not be changed, puts the hidden files there, and runs the verifier.
mkdir -p {LOGS}/verifier
if [ -d {TESTS}/{_PROTECTED} ]; then cp -R {TESTS}/{_PROTECTED}/. .; fi
if [ -d {TESTS}/{HIDDEN} ]; then cp -R {TESTS}/{HIDDEN}/. .; fi
rm -f {_REWARD}
FAIRTRIAL_REWARD_FILE={_REWARD} sh {TESTS}/{_COMMAND}
status=$?
if [ -f {_REWARD} ]; then
  case "$(head -c 1 {_REWARD})" in
    "{{") cp {_REWARD} {LOGS}/verifier/reward.json ;;
    *) cp {_REWARD} {LOGS}/verifier/reward.txt ;;
  esac
elif [ "$status" -eq 0 ]; then
  echo 1 > {LOGS}/verifier/reward.txt
else
  echo 0 > {LOGS}/verifier/reward.txt
fi
"""
_SOLVE: Final = f"#!/bin/sh\nexec git apply --whitespace=nowarn {SOLUTION}/{REFERENCE}\n"


def export_task(
    task: EvalTask,
    folder: Path,
    root: Path,
    base_image: str | None,
    write_files: Callable[[Path], None],
) -> tuple[str, ...]:
    """Write a task in Harbor's form; return what Harbor will not see of it, a line each.

    Args:
        task: The task.
        folder: Where to; not there yet.
        root: The repository that its suite lies in.
        base_image: What the image of a task that has none begins with.
        write_files: Writes the workspace of such a task, or else what its image is built from,
            into an empty folder.

    Raises:
        UsageError: Harbor could not run it.
        OSError: it cannot be written.
    """
    if task.verifier.command is None:
        raise UsageError(
            f"{task.name} is verified by a judge, and Harbor has none",
            fix="give it a verifying command",
        )
    in_image = isinstance(task.start, FolderStart) and task.start.in_image
    if not in_image and base_image is None:
        raise UsageError(
            f"{task.name} has no image, and Harbor runs nothing without",
            fix="name one to build on, with what its setup and verifier need: "
            "--base-image python:3.12",
        )
    # Whose session it was is nobody else's to know.
    write_task(replace(task, origin=None), folder, root)
    try:
        _add(task, folder, None if in_image else base_image, write_files)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return tuple(_lost(task, in_image=in_image))


def _add(
    task: EvalTask, folder: Path, base_image: str | None, write_files: Callable[[Path], None]
) -> None:
    files = folder / ENVIRONMENT / ("" if base_image is None else _WORKSPACE)
    files.mkdir(parents=True, exist_ok=True)
    write_files(files)
    if base_image is not None:
        _write_image(task, folder / ENVIRONMENT, base_image)
    if task.verifier.place is None:
        _write_tests(task, folder / TESTS_FOLDER, files if base_image is not None else None)
    if task.reference is not None:
        solution = folder / SOLUTION_FOLDER
        solution.mkdir()
        shutil.copyfile(folder / REFERENCE, solution / REFERENCE)
        _script(solution / SOLVE, _SOLVE)


def _write_image(task: EvalTask, folder: Path, base_image: str) -> None:
    lines = [f"FROM {base_image}", f"WORKDIR {WORKDIR}", f"COPY {_WORKSPACE}/ {WORKDIR}/"]
    if task.setup is not None:
        _script(folder / _SETUP, f"set -e\n{task.setup.line}\n")
        lines += [f"COPY {_SETUP} /opt/{_SETUP}", f"RUN sh /opt/{_SETUP}"]
    (folder / DOCKERFILE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_tests(task: EvalTask, folder: Path, workspace: Path | None) -> None:
    """Write the script that verifies, what it needs, and how protected files were."""
    folder.mkdir()
    _script(folder / TEST_SCRIPT, _TEST)
    line = "true" if task.verifier.command is None else task.verifier.command.line
    _script(folder / _COMMAND, f"{line}\n")
    for name, data in task.verifier.hidden.items():
        path = folder / HIDDEN / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if workspace is None or not task.verifier.protected:
        return
    for path in sorted(workspace.rglob("*")):
        name = path.relative_to(workspace).as_posix()
        fits = any(fnmatchcase(name, glob) for glob in task.verifier.protected)
        if fits and path.is_file() and not name.startswith(".git/"):
            target = folder / _PROTECTED / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target, follow_symlinks=False)


def _script(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def _lost(task: EvalTask, *, in_image: bool) -> list[str]:
    verifier, lost = task.verifier, []
    if not in_image:
        lost.append("its workspace is a copy in the image; git and a shell have to be in there")
        if isinstance(task.start, FolderStart):
            lost.append("loaded again, it is a task with an image, another one than this")
    elif task.setup is not None:
        lost.append("the setup is not run: write it into the Dockerfile")
    if task.near_misses:
        lost.append("its near misses, which only fairtrial tries")
    if verifier.protected:
        kept = "what is added beside protected files stays"
        lost.append(kept if not in_image else "protected files are not put back")
    if verifier.patterns:
        names = ", ".join(shlex.quote(pattern) for pattern in verifier.patterns)
        if in_image:
            lost.append(f"what is hidden of the image by {names} is not")
    if task.origin is not None:
        lost.append("the session that it came from")
    return lost

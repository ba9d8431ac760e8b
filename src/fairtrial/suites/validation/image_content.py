"""What of an image could give away what is hidden."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from fairtrial.model.eval_task import EvalTask
from fairtrial.ports import ProcessCall
from fairtrial.ports.suites import EvalTasks, TaskImage, wanted_in
from fairtrial.ports.workspaces import RepoWorkspace
from fairtrial.suites.validation.secret_content import secrets_of
from fairtrial.suites.validation.visible_content import Piece

_LIMIT_S: Final = 600.0
_MOST_OUTPUT: Final = 64 * 1024 * 1024
_MOST_FILES: Final = 50
_FIX: Final = "leave it out of the image"
_PATTERNS: Final = "what-is-hidden"
# `-xdev` keeps to the image: the workspace, /proc and /sys are mounts.
_FIND: Final = 'find / -xdev -type f -exec grep -lF -f "$1" {} + 2>/dev/null; true'


async def image_pieces(
    evals: EvalTasks, task: EvalTask, image: TaskImage, environ: Mapping[str, str]
) -> list[Piece]:
    """Return the files of an image that hold a line of what is hidden, and its variables.

    They are looked for by a program of the image (`grep`), as an agent would; lower layers of an
    image cannot be read from within, and what is packed in its files is not looked into.

    Args:
        evals: The eval tasks.
        task: The task.
        image: Its image.
        environ: The environment that a program gets.
    """
    lines = sorted({line for secret in secrets_of(task) for line in secret.lines})
    repo = await evals.prepared(task.digest, {})
    async with evals.workspace(repo, wanted_in(image)) as place:
        shown = await _run(place, ("env",), environ)
        pieces = [Piece("the image's environment", shown)]
        if not lines:
            return pieces
        await place.copy_in({_PATTERNS: "\n".join(lines).encode()}, to=str(place.home))
        words = ("/bin/sh", "-c", _FIND, "sh", str(place.home / _PATTERNS))
        found = (await _run(place, words, environ)).split(b"\n")
        names = [name.decode("utf-8", "surrogateescape") for name in found if name]
        pieces += [
            Piece(f"{name} in the image", await _run(place, ("cat", name), environ), fix=_FIX)
            for name in _few(names)
        ]
    return pieces


async def _run(place: RepoWorkspace, argv: tuple[str, ...], environ: Mapping[str, str]) -> bytes:
    call = ProcessCall(argv, b"", environ, Path(place.path), _LIMIT_S, _MOST_OUTPUT)
    return (await place.run(call)).stdout


def _few(names: Iterable[str]) -> list[str]:
    return sorted(names)[:_MOST_FILES]

"""What is hidden cannot be found in what the agent gets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from fairtrial.model.eval_task import EvalTask
from fairtrial.suites.validation.findings import Check, Checked, Finding, as_word
from fairtrial.suites.validation.secret_content import Content, Secret, Shown, secrets_of
from fairtrial.suites.validation.unpacking import unpacked
from fairtrial.suites.validation.visible_content import (
    Piece,
    file_pieces,
    object_pieces,
    repositories,
)

_MOST: Final = 10
"""Findings that are told one by one."""
_WORDS: Final = {
    Shown.WHOLE: "holds {name}",
    Shown.HALF: "holds most lines of {name}",
    Shown.LINES: "shares lines with {name}",
}
_COMPILED: Final = re.compile(r"(.+)\.[\w-]+\.pyc")


def check_leaks(
    task: EvalTask, root: Path, environ: Mapping[str, str], further: Iterable[Piece] = ()
) -> Checked:
    """Look for hidden files and the reference in all that the agent gets.

    That is its instruction, its variables, the files of its workspace after the setup, packed ones
    too, and every object of the repositories in it. A file is found whole, in base64, as a JSON
    text, or by its lines: half of those that are long enough to be no accident are a leak, at
    least three of them a warning.

    Args:
        task: The task.
        root: A copy of its workspace, as the agent finds it.
        environ: The variables that the agent gets.
        further: What else it gets, such as the files of an image.

    Raises:
        GitError: a repository cannot be read.
    """
    secrets = [secret for secret in secrets_of(task) if secret.forms or secret.lines]
    if not secrets:
        return Checked(Check.LEAKS, skipped="nothing is hidden, and there is no reference")
    unread: list[str] = []
    found: dict[tuple[str, str], tuple[Shown, Piece]] = {}
    read = 0
    for piece in _pieces(task, root, environ, unread, further):
        read += 1
        for secret, shown, place in _seen(piece, secrets):
            found.setdefault((place, secret.name), (shown, piece))
    problems: list[Finding] = []
    warnings = [*_compiled(root, secrets)]
    for (place, name), (shown, piece) in found.items():
        text = f"{place} {_WORDS[shown].format(name=name)}"
        (warnings if shown is Shown.LINES else problems).append(Finding(text, _fix(piece, shown)))
    if unread:
        warnings.append(
            Finding(f"{as_word(len(unread), 'file')} could not be read whole: {unread[0]}")
        )
    facts = {"secrets": len(secrets), "pieces_read": read}
    return Checked(Check.LEAKS, _cut(problems), _cut(warnings), facts=facts)


def _pieces(
    task: EvalTask,
    root: Path,
    environ: Mapping[str, str],
    unread: list[str],
    further: Iterable[Piece],
) -> Iterator[Piece]:
    instruction = task.instruction.encode("utf-8", "surrogateescape")
    yield Piece("instruction.md", instruction, fix="say what is wanted without them")
    for name, value in environ.items():
        yield Piece(f"the variable {name}", value.encode("utf-8", "surrogateescape"))
    yield from file_pieces(root, unread.append)
    for folder in repositories(root):
        yield from object_pieces(folder, root, environ)
    yield from further


def _seen(piece: Piece, secrets: Iterable[Secret]) -> Iterator[tuple[Secret, Shown, str]]:
    for inside, data in unpacked(piece.data):
        content = Content(data)
        for secret in secrets:
            shown = secret.shown_in(content)
            if shown is not None:
                yield secret, shown, f"{piece.place}{inside}"


def _compiled(root: Path, secrets: Iterable[Secret]) -> Iterator[Finding]:
    """Yield compiled copies of hidden modules: their texts are in them, their lines are not."""
    for secret in secrets:
        path = PurePosixPath(secret.path or "")
        if path.suffix != ".py":
            continue
        for file in sorted((root / path.parent / "__pycache__").glob("*.pyc")):
            match = _COMPILED.fullmatch(file.name)
            if match is not None and match[1] == path.stem:
                told = file.relative_to(root).as_posix()
                yield Finding(f"{told} is a compiled copy of {secret.name}", _hide(told))


def _fix(piece: Piece, shown: Shown) -> str:
    if shown is Shown.LINES:
        return "look whether they give it away"
    if piece.file is not None and not piece.file.startswith(".git/"):
        return _hide(piece.file)
    return piece.fix


def _hide(path: str) -> str:
    top = PurePosixPath(path).parts[0]
    glob = "evals/*" if top == "evals" else path
    return f'add "{glob}" to hidden in [verifier] of task.toml'


def _cut(findings: list[Finding]) -> tuple[Finding, ...]:
    left = len(findings) - _MOST
    rest = [Finding(f"and {left:,} more of this kind")] if left > 0 else []
    return (*findings[:_MOST], *rest)

"""Asks the shell for the program of a shell command, before anything runs."""

from __future__ import annotations

import re

from fairtrial.model.errors import UsageError
from fairtrial.ports import ProcessCall, Workspace
from fairtrial.workspaces.program import Program

_PLAIN_FIRST_WORD = re.compile(r"\s*([\w./][\w./+@:%-]*)(?=\s|$)", re.ASCII)
_MAY_GO_ON = re.compile(r"\|\||[;&\n]")
"""What lets a shell command go on after its first word was not found."""
_IS_THERE = 'case $1 in */*) test -f "$1" && test -x "$1" ;; *) command -v "$1" ;; esac'
"""Asks a shell for a program, a builtin or a keyword; dash's `command -v` takes any file."""


async def check_first_word(
    command: str | tuple[str, ...], program: Program, workspace: Workspace, where: str
) -> None:
    """Refuse a shell command whose program is not there; what cannot be told passes.

    Args:
        command: As the user wrote it; a list was looked up already.
        program: What it became.
        workspace: Where it runs; it is open.
        where: What the spec comes from, for the error message.

    Raises:
        UsageError: the shell finds no such program, builtin or keyword.
        TaskError: the workspace could not run the question.
        Undecidable: so.
    """
    word = _deciding_word(command) if isinstance(command, str) else None
    if word is None:
        return
    argv = ("/bin/sh", "-c", _IS_THERE, "sh", word)
    answer = await workspace.run(ProcessCall(argv, b"", program.env, program.cwd, 10.0))
    if answer.usage.exit_status not in (0, None):
        raise UsageError(
            f"the shell finds no program {word!r}, or may not run it",
            where=f"{where}, option 'command'",
            fix="check its name, PATH and `chmod +x`; a relative path starts at 'cwd', "
            f"which is {program.cwd}",
        )


def _deciding_word(command: str) -> str | None:
    """Return the first word of a shell command, when the command fails if that is no program.

    None when that cannot be told from the text: the word is quoted, an assignment or an
    expansion, or the command may go on without it.
    """
    match = _PLAIN_FIRST_WORD.match(command)
    return None if match is None or _MAY_GO_ON.search(command) else match[1]

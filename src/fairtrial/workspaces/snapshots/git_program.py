"""Git as a program that neither the caller's variables nor the user's settings steer."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PASSED = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USER", "LOGNAME", "SYSTEMROOT")
_ALWAYS = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_PAGER": "cat",
}
_NO_SETTINGS = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
# What a repository's own settings could start.
_NO_PROGRAMS = (
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "credential.helper="),
)


class GitError(Exception):
    """Git failed, is not there, or took too long; `str()` says how."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What git said."""

    code: int
    out: bytes
    err: str

    def lines(self) -> list[str]:
        """Return the lines of its output."""
        return os.fsdecode(self.out).splitlines()


class Git:
    """Runs git.

    Attributes:
        program: Its path.
    """

    def __init__(self, environ: Mapping[str, str], left_s: Callable[[], float]) -> None:
        """Find git.

        Args:
            environ: The environment of this process.
            left_s: How many seconds are left for all that is to be done.

        Raises:
            GitError: it is not on PATH.
        """
        found = shutil.which("git", path=environ.get("PATH"))
        if found is None:
            raise GitError("git is not on PATH")
        self.program = found
        self._environ = {name: environ[name] for name in _PASSED if name in environ} | _ALWAYS
        self._left_s = left_s

    def run(  # each is one thing that a program is given
        self,
        words: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        own: bool = True,
        check: bool = True,
    ) -> Answer:
        """Run git and return what it said.

        Args:
            words: The command and its arguments.
            cwd: Its folder.
            env: Further variables.
            stdin: What it reads.
            own: It works on a repository of fairtrial's: no settings of the user's count.
            check: Whether a bad exit status is an error.

        Raises:
            GitError: it failed or took too long.
        """
        left_s = self._left_s()
        name = _command(words)
        late = f"git {name} took longer than there was time for"
        if left_s <= 0:
            raise GitError(late)
        environ = self._environ | (_NO_SETTINGS if own else {}) | dict(env or {})
        try:
            done = subprocess.run(  # noqa: S603  # no shell; the words are ours
                [self.program, *_NO_PROGRAMS, *words],
                cwd=cwd,
                env=environ,
                input=stdin,
                capture_output=True,
                timeout=left_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise GitError(late) from None
        except OSError as error:
            raise GitError(f"git {name} does not run: {error.strerror}") from None
        err = done.stderr.decode(errors="replace").strip()
        if check and done.returncode:
            last = err.splitlines()[-1] if err else f"exit status {done.returncode}"
            raise GitError(f"git {name}: {last}")
        return Answer(done.returncode, done.stdout, err)


def _command(words: Sequence[str]) -> str:
    """Return the name of the command, which settings may stand before."""
    at = 0
    while words[at : at + 1] == ["-c"]:
        at += 2
    return words[at] if at < len(words) else ""

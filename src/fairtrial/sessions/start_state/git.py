"""Git as a program that only looks: nothing of the user's is changed, and none of it is run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairtrial.model.errors import NotFoundError

_LONGEST_S: Final = 300
_QUIET: Final = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "protocol.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "log.showSignature=false",
    "core.untrackedCache=false",
)
_GITLINK: Final = "160000"


class GitError(Exception):
    """Git ended with an error; `str()` is the first line of what it said."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a tree.

    Attributes:
        mode: `100644`, `100755`, `120000` (a symbolic link) or `160000` (a submodule).
        hash: Of its content.
    """

    mode: str
    hash: str

    @property
    def is_submodule(self) -> bool:
        """Whether it is a repository of its own."""
        return self.mode == _GITLINK


class Git:
    """Runs git in a folder. No hook, no filter of files and no network is used."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.folder = folder
        kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
        self._environ = {
            **kept,
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "LC_ALL": "C",
        }

    def run(
        self,
        *words: str,
        given: bytes = b"",
        settings: Sequence[str] = (),
        index: Path | None = None,
    ) -> bytes:
        """Return what git prints.

        Args:
            words: A command and its arguments.
            given: Its standard input.
            settings: Further configuration, as `name=value`.
            index: An index to use in place of the user's.

        Raises:
            GitError: it ended with an error.
            NotFoundError: there is no git.
        """
        configured = [part for one in (*_QUIET, *settings) for part in ("-c", one)]
        environ = dict(self._environ)
        if index is not None:
            environ["GIT_INDEX_FILE"] = str(index)
        try:
            done = subprocess.run(  # noqa: S603  # no shell; user text only as arguments
                ["git", "-C", str(self.folder), *configured, *words],  # noqa: S607
                input=given,
                capture_output=True,
                env=environ,
                timeout=_LONGEST_S,
                check=False,
            )
        except FileNotFoundError as error:
            raise NotFoundError("there is no git", fix="install git, or put it on PATH") from error
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise GitError(str(error)) from error
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise GitError(said[0] if said else f"git {words[0]} ended with {done.returncode}")
        return done.stdout

    def line(self, *words: str) -> str | None:
        """Return the first line that git prints; None when it fails or prints none."""
        try:
            found = os.fsdecode(self.run(*words))
        except GitError:
            return None
        return found.partition("\n")[0].strip() or None

    def commit(self, name: str) -> str | None:
        """Return the whole hash of the one commit of this name; None when there is none."""
        return self.line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")

    def tree(self, commit: str | None) -> dict[str, Entry]:
        """Return the files of a commit by path.

        Raises:
            GitError: its tree is not there.
        """
        if commit is None:
            return {}
        found: dict[str, Entry] = {}
        for line in self.run("ls-tree", "-r", "-z", commit).split(b"\0"):
            facts, tab, path = line.partition(b"\t")
            if tab:
                mode, _, hash_ = facts.decode().split(" ")
                found[os.fsdecode(path)] = Entry(mode, hash_)
        return found

    def blobs(self, hashes: Iterable[str]) -> dict[str, bytes]:
        """Return contents by their hash; those that are not there are left out.

        Raises:
            GitError: git failed.
        """
        wanted = list(dict.fromkeys(hashes))
        if not wanted:
            return {}
        given = "".join(f"{hash_}\n" for hash_ in wanted).encode()
        return dict(_batch(self.run("cat-file", "--batch", given=given)))

    def paths(self, *words: str) -> list[str]:
        """Return the paths that a command with `-z` prints.

        Raises:
            GitError: git failed.
        """
        return [os.fsdecode(path) for path in self.run(*words).split(b"\0") if path]


def _batch(printed: bytes) -> Iterator[tuple[str, bytes]]:
    start = 0
    while start < len(printed):
        end = printed.index(b"\n", start)
        words = printed[start:end].decode(errors="replace").split(" ")
        start = end + 1
        if len(words) == 3 and words[2].isdigit():
            size = int(words[2])
            yield words[0], printed[start : start + size]
            start += size + 1

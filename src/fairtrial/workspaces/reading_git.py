"""Git that only looks: nothing of the user's is changed, and none of it is run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairtrial.model.errors import NotFoundError
from fairtrial.workspaces.snapshots.git_program import Git as Program
from fairtrial.workspaces.snapshots.git_program import GitError

_LONGEST_S: Final = 300.0
_QUIET: Final = (
    *("-c", "protocol.allow=never"),
    *("-c", "log.showSignature=false"),
    *("-c", "core.untrackedCache=false"),
)
_GITLINK: Final = "160000"


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
    """Runs git in a folder. No hook, no filter of files and no network is used.

    Attributes:
        folder: The folder.
        environ: What git is given of the environment.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        """Name the folder.

        Args:
            folder: Where git is run.
            environ: The environment of this process.

        Raises:
            NotFoundError: there is no git.
        """
        self.folder = folder
        self.environ = environ
        try:
            self._program = Program(environ, lambda: _LONGEST_S)
        except GitError as error:
            raise NotFoundError("there is no git", fix="install git, or put it on PATH") from error

    def run(
        self,
        *words: str,
        given: bytes = b"",
        settings: Sequence[tuple[str, str]] = (),
        variables: Mapping[str, str] | None = None,
    ) -> bytes:
        """Return what git prints.

        Args:
            words: A command and its arguments.
            given: Its standard input.
            settings: Further configuration: names and values.
            variables: Further variables: an index to use in place of the user's, and the like.

        Raises:
            GitError: it ended with an error.
        """
        env = {**_configured(settings), **(variables or {})}
        try:
            return self._program.run(
                [*_QUIET, *words], cwd=self.folder, env=env, stdin=given, own=False
            ).out
        except ValueError as error:  # a null byte in a word
            raise GitError(str(error)) from error

    def line(self, *words: str) -> str | None:
        """Return the first line that git prints; None when it fails or prints none."""
        try:
            found = os.fsdecode(self.run(*words))
        except GitError:
            return None
        return found.partition("\n")[0].strip() or None

    def commit(self, name: str) -> str | None:
        """Return the whole hash of the one commit of this name; None when there is none."""
        return self.line(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        )

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


def _configured(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    found = {"GIT_CONFIG_COUNT": str(len(settings))} if settings else {}
    for place, (name, value) in enumerate(settings):
        found |= {f"GIT_CONFIG_KEY_{place}": name, f"GIT_CONFIG_VALUE_{place}": value}
    return found


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

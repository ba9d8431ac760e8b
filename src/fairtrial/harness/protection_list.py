"""What the configuration of a repository protects in its harness."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from fairtrial.harness.git_trees import commit_tree, told_of_git
from fairtrial.harness.sources import Place
from fairtrial.model.errors import UsageError

CONFIGS: Final = ("fairtrial.toml", "pyproject.toml")
"""Files in the root of a repository that may list what is protected."""
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Pattern:
    """Protects lines of files from a list in the configuration.

    Attributes:
        files: Glob of paths from the root of the repository.
        words: Words that a line holds, without regard to case and blanks; empty protects all lines.
    """

    files: str
    words: str

    @classmethod
    def read(cls, given: str) -> Pattern:
        """Return the pattern that `GLOB:WORDS`, or `GLOB` alone, is."""
        files, _, words = given.partition(":")
        return cls(files.strip(), _SPACE.sub(" ", words).strip().casefold())

    @property
    def written(self) -> str:
        """The pattern as text."""
        return f"{self.files}:{self.words}" if self.words else self.files

    def takes(self, path: str, line: str) -> bool:
        """Return whether it protects a line."""
        name = path.rpartition("/")[2]
        fits = fnmatchcase(path, self.files) or ("/" not in self.files and name == self.files)
        fits = fits or (self.files.startswith("**/") and fnmatchcase(path, self.files[3:]))
        return fits and self.words in _SPACE.sub(" ", line).casefold()


def patterns_of(place: Place) -> tuple[Pattern, ...]:
    """Return the patterns of a repository: those of `fairtrial.toml` and `pyproject.toml`.

    An entry counts that the file has now, and one that it has in the last commit: an edit cannot
    free a line by taking it off the list.

    Raises:
        UsageError: a file is no TOML, or its list is none of texts.
        FairtrialError: git fails.
    """
    found = [one for name, text in _texts(place) for one in patterns_in(name, text)]
    return tuple(dict.fromkeys(found))


def _texts(place: Place) -> Iterator[tuple[str, str]]:
    folder = place.root or place.folder
    for name in CONFIGS:
        path = folder / name
        if path.is_file():
            yield name, path.read_text(encoding="utf-8", errors="replace")
    git = place.git
    if git is None:
        return
    with told_of_git(git):
        if git.commit("HEAD") is None:
            return
        committed = commit_tree(git, "HEAD").read(CONFIGS)
    for name, data in committed.items():
        if data is not None:
            yield name, data.decode("utf-8", "replace")


def patterns_in(name: str, text: str) -> tuple[Pattern, ...]:
    """Return the patterns that a file of configuration lists: see `patterns_of`."""
    try:
        tables: Mapping[str, Any] = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError("it is no TOML", where=name, why=str(error)) from None
    if name == "pyproject.toml":
        own = tables.get("tool", {}).get("fairtrial", {})
        tables = own if isinstance(own, dict) else {}
    listed = tables.get("protected", [])
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise UsageError(
            "'protected' must be a list of texts",
            where=name,
            fix='write e.g. protected = ["AGENTS.md:never push", "SECURITY.md"]',
        )
    patterns = tuple(Pattern.read(one) for one in listed)
    if any(not pattern.files for pattern in patterns):
        raise UsageError("an entry of 'protected' names no file", where=name)
    return patterns

"""A harness gathered from a tree: what belongs by its path, and what that imports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from fairtrial.harness.belonging import Part, has_imports, is_secret, may_lead_to_some, part_of
from fairtrial.harness.importing import imported_path
from fairtrial.harness.markdown import imports
from fairtrial.harness.trees import LONGEST, Tree
from fairtrial.model.errors import UsageError
from fairtrial.model.harness import Harness

MOST_FILES: Final = 2_000
MOST_BYTES: Final = 16 << 20
_MOST_NOTES: Final = 20


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was found in a tree.

    Attributes:
        harness: The files that belong.
        private: Those of them that are no part of the repository.
        committed: Whether it is of a commit, which stands for a checkout of it.
    """

    harness: Harness
    private: frozenset[str] = frozenset()
    committed: bool = False


def gathered(tree: Tree, label: str, where: str) -> Gathered:
    """Return the harness of a tree.

    Args:
        tree: Where its files are.
        label: What the harness is called.
        where: The place, for error messages.

    Raises:
        UsageError: there are too many files, or too many bytes.
        FairtrialError: a file cannot be read.
    """
    gathering = _Gathering(tree, where)
    gathering.take(_belonging(tree))
    while gathering.imported:
        gathering.take(sorted(gathering.imported))
    files = dict(sorted(gathering.files.items()))
    links = {path: gathering.links[path] for path in files if path in gathering.links}
    harness = Harness(files, label, links, _cut(gathering.notes))
    return Gathered(harness, tree.private.intersection(files))


def text_of(data: bytes) -> tuple[str | None, str | None]:
    """Return the text of a file as agents read it, and what is to be said of that.

    Line ends are read as line feeds and a byte order mark is none: what a checkout makes of them is
    no edit. What is no UTF-8 is read as U+FFFD. A file with a null byte has no text.
    """
    if b"\0" in data:
        return None, "is no text; it was left out"
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    said = None
    if "\ufffd" in text and "\ufffd".encode() not in data:
        said = "is not UTF-8; what cannot be read is U+FFFD, as for the agent"
    return text.replace("\r\n", "\n"), said


def _belonging(tree: Tree) -> list[str]:
    paths = list(tree.paths())
    found = {path for path in paths if part_of(path)}
    for link in tree.links:
        target = tree.resolve(link) if may_lead_to_some(link) else None
        if target is None:
            continue
        below = (path for path in paths if path.startswith(target + "/"))
        behind = {link + path[len(target) :] for path in below}
        found |= {path for path in behind if part_of(path)}
    return sorted(found)


def _cut(notes: Sequence[str]) -> tuple[str, ...]:
    more = len(notes) - _MOST_NOTES
    return (*notes[:_MOST_NOTES], f"{more} further files were left out") if more > 0 else (*notes,)


@dataclass
class _Gathering:
    tree: Tree
    where: str
    files: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    imported: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)
    _bytes: int = 0

    def take(self, paths: Iterable[str]) -> None:
        """Read files, and note what they import."""
        self.imported.clear()
        targets: dict[str, str] = {}
        for path in paths:
            self._seen.add(path)
            target = self.tree.resolve(path)
            if not _has_plain_name(path):
                shown = path.encode("utf-8", "replace").decode()
                self.notes.append(f"the name of {shown} is not UTF-8; it was left out")
            elif target is None:
                self.notes.append(f"{path} leads out of the repository; it was left out")
            elif not is_secret(target):
                targets[path] = target
                if target != path:
                    self.links[path] = target
        self._bound([*self.files, *targets])
        contents = self.tree.read(list(dict.fromkeys(targets.values())))
        for path, target in targets.items():
            if target in contents:
                self._keep(path, contents[target])

    def _keep(self, path: str, data: bytes | None) -> None:
        part = part_of(path) or Part.IMPORTED
        if data is None:
            if part is not Part.SKILL:
                raise UsageError(
                    f"{path} has over {LONGEST:,} bytes",
                    where=self.where,
                    fix="that is no text that an agent takes in: shorten it, or have git ignore it",
                )
            self.notes.append(f"{path} has over {LONGEST:,} bytes; it was left out")
            return
        text, said = text_of(data)
        if said:
            self.notes.append(f"{path} {said}")
        if text is None:
            return
        self._bytes += len(data)
        if self._bytes > MOST_BYTES:
            raise UsageError(
                f"the harness has over {MOST_BYTES:,} bytes",
                where=self.where,
                fix=_advice([*self.files, path]),
            )
        self.files[path] = text
        if has_imports(part) and path.endswith((".md", ".MD")):
            self._follow(path, text)

    def _follow(self, path: str, text: str) -> None:
        for written in imports(text):
            found = imported_path(path, written)
            if found is None or found in self._seen or is_secret(found):
                continue
            if self.tree.has(found):
                self.imported.add(found)

    def _bound(self, paths: Sequence[str]) -> None:
        if len(paths) > MOST_FILES:
            raise UsageError(
                f"{len(paths):,} files belong to the harness, over {MOST_FILES:,}",
                where=self.where,
                fix=_advice(paths),
            )


def _has_plain_name(path: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in path)


def _advice(paths: Iterable[str]) -> str:
    """Return what to do about too many files: most of them are in one folder."""
    folders = Counter(str(PurePosixPath(path).parent) for path in paths)
    folder, count = folders.most_common(1)[0]
    return f"{count:,} of them are in {folder}: have git ignore it, or name a folder without it"

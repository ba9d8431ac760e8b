"""Changes to a verifier itself, derived from its command, each meant to satisfy it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final

from fairtrial.conduct.program_names import program_words
from fairtrial.conduct.shell_words import simple_commands
from fairtrial.graders.verifier import REWARD_VARIABLE
from fairtrial.suites.validation import false_passes as false

MOST: Final = 40
"""Tampers that are tried on one task."""
_DEEPEST: Final = 3
"""Scripts in scripts that are looked into."""
_LARGEST: Final = 256 * 1024
_PACKAGES: Final = frozenset({"npm", "yarn", "pnpm", "bun"})
_PACKAGE_WORDS: Final = frozenset({"run", "run-script", "test", "t", "exec", "x", "dlx"})
_MAKES: Final = frozenset({"make", "gmake"})
_MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
_PYTHON: Final = re.compile(r"python(?:\d(?:\.\d+)?)?|pypy3?")


@dataclass(frozen=True, slots=True)
class Tamper:
    """One change to a verifier.

    Attributes:
        what: What is changed, in words.
        globs: What would keep it from counting, as `protected`.
        files: New contents by path; None removes a file.
        programs: Those of the files that can be run.
    """

    what: str
    globs: tuple[str, ...]
    files: Mapping[str, bytes | None]
    programs: frozenset[str] = field(default=frozenset())


def tampers(line: str, root: Path, names: Sequence[str], hidden: Sequence[str]) -> list[Tamper]:
    """Return changes that could satisfy a verifying command, the most telling first.

    Files and scripts that the command names, what stands in those, the settings and the tests of
    the runners that it starts, and programs of its own folder that stand before the system's.

    Args:
        line: The command.
        root: A copy of the workspace.
        names: The files in it, by path.
        hidden: Paths of hidden files; they are put there after any change.
    """
    found: dict[str, Tamper] = {}
    for tamper in _Deriving(root, names, hidden).of_line(line, PurePosixPath(), 0):
        found.setdefault(tamper.what, tamper)
    return list(found.values())[:MOST]


class _Deriving:
    def __init__(self, root: Path, names: Sequence[str], hidden: Sequence[str]) -> None:
        self._root = root
        self._names = names
        self._known = frozenset(names)
        self._hidden = tuple(hidden)
        self._read: set[str] = set()

    def of_line(self, line: str, folder: PurePosixPath, depth: int) -> Iterator[Tamper]:
        """Yield the tampers of a shell's text, run in a folder of the workspace."""
        for command in simple_commands(line):
            words = command.words
            if words and words[0] == "cd" and len(words) > 1:
                folder = _joined(folder, words[1])
                continue
            yield from self._of_words(words, folder, depth)

    def _of_words(
        self, words: Sequence[str], folder: PurePosixPath, depth: int
    ) -> Iterator[Tamper]:
        for word in words:
            yield from self._of_file(word, folder, depth)
        program = program_words(words)
        if not program:
            return
        name, rest = program[0], program[1:]
        if words[0].rpartition("/")[2] in _PACKAGES:
            yield from self._of_package(words, folder, depth)
        if name in _MAKES:
            yield from self._of_make(rest, folder, depth)
        yield from self._of_module(words, folder)
        runner = false.RUNNERS.get(name) or false.RUNNERS.get(" ".join(program[:2]))
        if name == "node" and "--test" in rest:
            runner = false.RUNNERS["node --test"]
        if runner is not None:
            yield from self._of_runner(name, runner, folder)

    def _of_file(self, word: str, folder: PurePosixPath, depth: int) -> Iterator[Tamper]:
        path = str(_joined(folder, word.rpartition("=")[2].partition("::")[0]))
        if path not in self._known or path in self._read:
            return
        self._read.add(path)
        text = self._text(path)
        passing = false.passing_file(path, text, REWARD_VARIABLE)
        if passing is None:
            return
        yield Tamper(f"{path} always passes", (path,), {path: passing})
        if depth < _DEEPEST and false.is_shell(path, text):
            # A script's paths begin where it is run; many go to their own folder first.
            for start in dict.fromkeys((folder, PurePosixPath(path).parent)):
                yield from self.of_line(text, start, depth + 1)

    def _of_package(
        self, words: Sequence[str], folder: PurePosixPath, depth: int
    ) -> Iterator[Tamper]:
        path = str(folder / "package.json")
        settings = _json(self._text(path)) if path in self._known else None
        scripts = settings.get("scripts") if settings else None
        if settings is None or not isinstance(scripts, dict):
            return
        plain = [word for word in words[1:] if not word.startswith("-")]
        name = next((word for word in plain if word not in _PACKAGE_WORDS - {"test"}), "")
        name = "test" if plain[:1] == ["t"] else name
        script = scripts.get(name)
        if not isinstance(script, str):
            return
        calm = {**scripts, f"pre{name}": "exit 0", name: "exit 0", f"post{name}": "exit 0"}
        changed = json.dumps({**settings, "scripts": calm}, indent=2).encode()
        yield Tamper(f'the script "{name}" of {path} is "exit 0"', (path,), {path: changed})
        for command in simple_commands(script):
            if command.words:
                yield self._shim(command.program, folder)
        if depth < _DEEPEST:
            yield from self.of_line(script, folder, depth + 1)

    def _shim(self, program: str, folder: PurePosixPath) -> Tamper:
        path = str(folder / "node_modules" / ".bin" / program)
        files: dict[str, bytes | None] = {path: false.SHIM}
        return Tamper(f'{path} is "exit 0"', (path,), files, frozenset(files))

    def _of_make(self, words: Sequence[str], folder: PurePosixPath, depth: int) -> Iterator[Tamper]:
        targets = [word for word in words if not word.startswith("-") and "=" not in word]
        paths = [str(folder / name) for name in _MAKEFILES]
        path = next((path for path in paths if path in self._known), None)
        if path is None:
            return
        globs = tuple(dict.fromkeys((path, paths[0])))
        changed = false.makefile(targets)
        yield Tamper(f"the targets of {path} do nothing", (path,), {path: changed})
        if path != paths[0]:
            yield Tamper(f"a new {paths[0]} goes before {path}", globs, {paths[0]: changed})
        if depth < _DEEPEST:
            text = self._text(path)
            for recipe in false.recipes(text, targets):
                yield from self.of_line(recipe, folder, depth + 1)

    def _of_module(self, words: Sequence[str], folder: PurePosixPath) -> Iterator[Tamper]:
        """Yield a module that goes before the one of `python -m`, which looks here first."""
        for place, word in enumerate(words[:-2]):
            if _PYTHON.fullmatch(word.rpartition("/")[2]) and words[place + 1] == "-m":
                module = words[place + 2].partition(".")[0]
                if str(folder / module / "__init__.py") in self._known:
                    return
                path = str(folder / f"{module}.py")
                exits = false.passing_file(path, "", REWARD_VARIABLE)
                yield Tamper(f"{path} goes before the module {module}", (path,), {path: exits})

    def _of_runner(
        self, name: str, runner: false.Runner, folder: PurePosixPath
    ) -> Iterator[Tamper]:
        for setting in runner.settings:
            path = next(
                (str(folder / one) for one in setting.paths if str(folder / one) in self._known),
                str(folder / setting.paths[0]),
            )
            files = {path: setting.content}
            yield Tamper(f"{path} lets {name} pass", tuple(map(str, setting.globs)), files)
        tests = [
            path
            for path in self._names
            if path not in self._hidden and any(_fits(path, glob) for glob in runner.tests)
        ]
        if tests:
            shown = tests[0] if len(tests) == 1 else f"{tests[0]} and {len(tests) - 1:,} more"
            emptied = {path: runner.empty(path, self._text(path)) for path in tests}
            globs = tuple(dict.fromkeys(_glob_of(path, runner.tests) for path in tests))
            yield Tamper(f"the tests {shown} test nothing", globs, emptied)
            yield Tamper(f"the tests {shown} are removed", globs, dict.fromkeys(tests))
        if runner.added is not None:
            yield from self._added(name, runner.added, folder)

    def _added(self, name: str, added: false.Added, folder: PurePosixPath) -> Iterator[Tamper]:
        names = (*self._names, *self._hidden)
        inside = [path for path in names if PurePosixPath(path).is_relative_to(folder)]
        files = dict(added(inside, self._text))
        if files:
            globs = tuple(dict.fromkeys(f"*{PurePosixPath(path).name}" for path in files))
            yield Tamper(f"{next(iter(files))} lets {name} pass", globs, files)

    def _text(self, path: str) -> str:
        try:
            with (self._root / path).open("rb") as file:
                return file.read(_LARGEST).decode("utf-8", "replace")
        except OSError:
            return ""


def _joined(folder: PurePosixPath, word: str) -> PurePosixPath:
    """Return a path from the workspace; one that leads out of it names no file there."""
    parts: list[str] = []
    for part in (folder / word.removeprefix("$PWD/")).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return PurePosixPath(*parts)


def _fits(path: str, glob: str) -> bool:
    return fnmatchcase(path, glob) or fnmatchcase(f"/{path}", f"*/{glob}")


def _glob_of(path: str, globs: Sequence[str]) -> str:
    glob = next(glob for glob in globs if _fits(path, glob))
    return glob if glob.startswith("*") else f"*{glob}"


def _json(text: str) -> dict[str, object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

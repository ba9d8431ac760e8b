"""Which files a call changed: by an edit, a write, or a shell command that is known to write."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fairtrial.conduct.program_names import program_words
from fairtrial.conduct.shell_words import SimpleCommand
from fairtrial.model.session import ChangeKind, FileChange
from fairtrial.sessions.file_roles import FileRole, role_of

_SCRIPT_WRITE: Final = re.compile(
    r"open\(\s*[rfb]*(?P<q>['\"])(?P<opened>[^'\"]+)(?P=q)\s*,\s*(?:mode\s*=\s*)?['\"][wax]"
    r"|Path\(\s*['\"](?P<path>[^'\"]+)['\"]\s*\)\s*\.write_(?:text|bytes)"
    r"|(?:writeFile|appendFile)(?:Sync)?\(\s*['\"`](?P<node>[^'\"`]+)"
    r"|(?P<unknown>\.write_(?:text|bytes)\(|writeFile(?:Sync)?\(|open\([^)]*,\s*['\"][wax]['\"+b])"
)
_PATCHED: Final = re.compile(
    r"^\*\*\* (?P<kind>Add|Update|Delete) File: (?P<path>.+)$", re.MULTILINE
)
_PATCH_KINDS: Final = {
    "Add": ChangeKind.ADD,
    "Update": ChangeKind.UPDATE,
    "Delete": ChangeKind.DELETE,
}
_SED: Final = re.compile(r"[\d,$]*(?:[sy][/|#@,!]|/.*/\w|\d[dpq]$)")
_SCRIPTS: Final = re.compile(r"(?:python|pypy)[\d.]*|node|ruby|perl|deno|bun")
_ELSEWHERE: Final = ("/tmp/", "/var/tmp/", "/dev/", "/proc/", "/private/tmp/", "/var/folders/")  # noqa: S108  # paths that are read, not used
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
UNKNOWN_PATH: Final = "?"
"""The path of a file that a script wrote, where its text does not tell which."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A file in the session's folder or repository that was changed.

    Attributes:
        number: The event of the result that tells of it.
        thread: The thread that did it.
        path: Relative to the folder the session started in, where it is inside of it.
        role: What the file is for.
        kind: What was done.
        change: What the transcript tells of it; None for a shell command.
        to: The new path of a moved file.
    """

    number: int
    thread: str
    path: str
    role: FileRole
    kind: ChangeKind
    change: FileChange | None = None
    to: str | None = None

    @property
    def is_code(self) -> bool:
        """Whether it can change what a verification says."""
        return self.role is not FileRole.DOCS


@dataclass(frozen=True, slots=True)
class ShellWrite:
    """A file that a shell command writes, moves or removes.

    Attributes:
        path: As the command names it, below the folder that it changed to.
        kind: What is done to it.
        to: The new path of a moved file.
    """

    path: str
    kind: ChangeKind
    to: str | None = None


class Territory:
    """The folders whose files count as the session's own."""

    def __init__(self, cwd: str | None, repo: str | None) -> None:
        self._cwd = _slashed(cwd).rstrip("/") if cwd else None
        self._repo = _slashed(repo).rstrip("/") if repo else None

    def inside(self, path: str) -> str | None:
        """Return a path relative to the session's folder; None when it is somewhere else.

        A path that is inside of the repository only stays absolute.
        """
        path = _slashed(path)
        if not path or path[0] in "~$" or path.startswith("&"):
            return None
        if not path.startswith("/") and not _DRIVE.match(path):
            plain = posixpath.normpath(path)
            if not plain.startswith(".."):
                return plain
            if self._cwd is None:
                return None
            path = posixpath.join(self._cwd, path)
        path = posixpath.normpath(path)
        if self._cwd is None:
            return None if path.startswith(_ELSEWHERE) else path
        if path.startswith(f"{self._cwd}/"):
            return path[len(self._cwd) + 1 :]
        return path if self._repo and path.startswith(f"{self._repo}/") else None


def _slashed(path: str) -> str:
    return path.replace("\\", "/")


def shell_writes(commands: Sequence[SimpleCommand]) -> Iterator[ShellWrite]:
    """Yield what shell commands are known to write, move or remove."""
    folder = ""
    for command in commands:
        words = command.words
        if words[0] in ("cd", "pushd") and len(words) > 1:
            folder = posixpath.join(folder, _slashed(words[1]))
            continue
        for write in _written(command):
            to = None if write.to is None else posixpath.join(folder, write.to)
            yield ShellWrite(posixpath.join(folder, write.path), write.kind, to)


def _written(command: SimpleCommand) -> Iterator[ShellWrite]:
    for path in command.writes:
        if path and not path.startswith("/dev/"):
            yield ShellWrite(path, ChangeKind.UPDATE)
    words = program_words(command.words)
    if not words:
        return
    name, arguments = words[0], words[1:]
    if name == "git" and arguments:
        yield from _written_by_git(arguments)
    elif _SCRIPTS.fullmatch(name) and name != "perl":
        yield from _written_by_script(command, arguments)
    elif name in ("apply_patch", "applypatch"):
        for match in _PATCHED.finditer(command.heredoc or " ".join(arguments)):
            yield ShellWrite(match["path"].strip(), _PATCH_KINDS[match["kind"]])
    else:
        yield from _written_by_tool(name, arguments)


def _written_by_tool(name: str, arguments: Sequence[str]) -> Iterator[ShellWrite]:
    files = [word for word in arguments if not word.startswith("-")]
    if name in ("rm", "unlink"):
        yield from (ShellWrite(path, ChangeKind.DELETE) for path in files)
    elif name == "mv":
        yield from (ShellWrite(path, ChangeKind.MOVE, files[-1]) for path in files[:-1])
    elif name in ("sed", "gsed", "perl") and _in_place(name, arguments):
        # The first word that is no option is the script, unless options give it.
        given = name != "perl" and any(word in ("-e", "-f") for word in arguments)
        paths = files[1:] if not given else [path for path in files if not _SED.match(path)]
        yield from (ShellWrite(path, ChangeKind.UPDATE) for path in paths)
    elif name in ("cp", "install"):
        yield from (ShellWrite(path, ChangeKind.UPDATE) for path in files[1:][-1:])
    elif name == "tee":
        yield from (ShellWrite(path, ChangeKind.UPDATE) for path in files)
    elif name == "patch":
        yield ShellWrite(UNKNOWN_PATH, ChangeKind.UPDATE)


def _in_place(name: str, arguments: Sequence[str]) -> bool:
    if name == "perl":
        return any(re.match(r"-\w*i", word) for word in arguments)
    return any(
        word.startswith(("-i", "--in-place")) or word in ("-Ei", "-ni", "-ri") for word in arguments
    )


def _written_by_git(arguments: Sequence[str]) -> Iterator[ShellWrite]:
    verb = arguments[0]
    files = [word for word in arguments[1:] if not word.startswith("-")]
    if verb == "rm" and "--cached" not in arguments:
        for path in files:
            yield ShellWrite(path, ChangeKind.DELETE)
    elif verb == "mv" and len(files) > 1:
        for path in files[:-1]:
            yield ShellWrite(path, ChangeKind.MOVE, files[-1])
    elif verb == "restore" and "--staged" not in arguments:
        for path in files:
            yield ShellWrite(path, ChangeKind.UPDATE)
    elif verb == "checkout" and "--" in arguments:
        for path in arguments[arguments.index("--") + 1 :]:
            yield ShellWrite(path, ChangeKind.UPDATE)
    elif verb in ("apply", "am"):
        yield ShellWrite(UNKNOWN_PATH, ChangeKind.UPDATE)


def _written_by_script(command: SimpleCommand, arguments: Sequence[str]) -> Iterator[ShellWrite]:
    """Yield what a script in the command itself writes."""
    inline = next((i for i, word in enumerate(arguments) if word in ("-c", "-e")), None)
    text = command.heredoc
    if inline is not None and inline + 1 < len(arguments):
        text = arguments[inline + 1]
    for match in _SCRIPT_WRITE.finditer(text):
        path = match["opened"] or match["path"] or match["node"] or UNKNOWN_PATH
        yield ShellWrite(path, ChangeKind.UPDATE)


def mutations_of_shell(
    writes: Sequence[ShellWrite], territory: Territory, number: int, thread: str
) -> Iterator[Mutation]:
    """Yield what a shell command changes of the session's own files."""
    for write in writes:
        path = write.path if write.path == UNKNOWN_PATH else territory.inside(write.path)
        if path is not None:
            to = None if write.to is None else territory.inside(write.to)
            yield Mutation(number, thread, path, role_of(path), write.kind, to=to)


def mutations_of_changes(
    changes: Sequence[FileChange], territory: Territory, number: int, thread: str
) -> Iterator[Mutation]:
    """Yield what an edit or a write changed of the session's own files."""
    for change in changes:
        path = territory.inside(change.path)
        if path is not None:
            yield Mutation(number, thread, path, role_of(path), change.kind, change, change.to)

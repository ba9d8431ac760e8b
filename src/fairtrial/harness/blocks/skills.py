"""The list of skills in a request, and the same list with another harness's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fairtrial.harness.loading.listing import CodexSkill

_CLAUDE: Final = re.compile(
    r"(?P<head>(?:\A|\n)The following skills are available for use with the Skill tool:\n\n)"
    r"(?P<list>- .*?)(?=\n\n|\Z)",
    re.DOTALL,
)
_CLAUDE_NAME: Final = re.compile(r"- (?P<name>[^\s()]+)(?: \([^\n]*?\))?: ")
_CODEX: Final = re.compile(
    r"(?P<head>\n### Available skills\n)(?P<list>.*?)(?=\n### How to use skills\n)", re.DOTALL
)
_CODEX_ROOT: Final = re.compile(r"^- `(?P<alias>r\d+)` = `(?P<folder>[^`\n]*)`$", re.MULTILINE)
_CODEX_FILE: Final = re.compile(r" \(file: (?P<file>[^\n]*)\)\Z")
_CUT: Final = "…"


def lists_skills(text: str) -> bool:
    """Return whether a text of a request lists skills, as Claude Code or Codex does."""
    return _CLAUDE.search(text) is not None or _CODEX.search(text) is not None


def claude_exchanged(text: str, lines: Mapping[str, str], *, first: bool) -> str:
    """Return a list of Claude Code's with other lines for the skills that it names.

    Which of its lines are of the repository is not told: what a harness does not have stays. A
    line that was cut for want of room stays when it begins as the new one does.

    Args:
        text: The text with the list.
        lines: The lines of a harness, by name.
        first: Whether it is the list of the start: then what it does not name is put in.
    """
    found = _CLAUDE.search(text)
    if found is None:
        return text
    entries = _entries(found["list"])
    names = [match["name"] if (match := _CLAUDE_NAME.match(one)) else "" for one in entries]
    last = 0
    for number, (name, entry) in enumerate(zip(names, entries, strict=True)):
        new = lines.get(name)
        if new is not None:
            last = number + 1
            entries[number] = entry if _is_cut_from(entry, new) else new
    if first:
        entries[last:last] = [line for name, line in lines.items() if name not in names]
    return text[: found.start("list")] + "\n".join(entries) + text[found.end("list") :]


@dataclass(frozen=True, slots=True)
class _Folders:
    """What a list of Codex's calls the folders of skills."""

    aliases: Mapping[str, str]

    def whole(self, file: str) -> str:
        """Return the path of a file that may begin with an alias."""
        alias, slash, rest = file.partition("/")
        return f"{self.aliases[alias]}/{rest}" if slash and alias in self.aliases else file

    def short(self, path: str) -> str:
        """Return a path with the alias of its folder, where there is one."""
        for alias, folder in self.aliases.items():
            if path.startswith(f"{folder}/"):
                return f"{alias}/{path[len(folder) + 1 :]}"
        return path


def _is_cut_from(entry: str, line: str) -> bool:
    start = entry.removesuffix(_CUT).removesuffix("...")
    return start != entry and line.startswith(start)


def codex_exchanged(text: str, skills: Sequence[CodexSkill], root: str) -> str:
    """Return a list of Codex's with the skills of another harness in the place of the repository's.

    Args:
        text: The text with the list.
        skills: The skills of a harness, in their order.
        root: The root of the repository, as the agent saw it.
    """
    found = _CODEX.search(text)
    if found is None:
        return text
    folders = _Folders({one["alias"]: one["folder"] for one in _CODEX_ROOT.finditer(text)})
    entries = _entries(found["list"])
    paths = [_path_in(entry, folders, root) for entry in entries]
    new = {
        one.path: f"- {one.name}: {one.told} (file: {folders.short(f'{root}/{one.path}')})"
        for one in skills
    }
    others = [entry for entry, path in zip(entries, paths, strict=True) if path is None]
    if {path for path in paths if path is not None} == set(new):
        told = [
            entry if path is None else new[path] for entry, path in zip(entries, paths, strict=True)
        ]
    else:
        at = next((number for number, path in enumerate(paths) if path is not None), len(others))
        told = [*others[:at], *new.values(), *others[at:]]
    return text[: found.start("list")] + "\n".join(told) + text[found.end("list") :]


def _path_in(entry: str, folders: _Folders, root: str) -> str | None:
    """Return the path from the root of the repository that an entry names; None for others."""
    found = _CODEX_FILE.search(entry)
    path = folders.whole(found["file"]) if found else ""
    return path[len(root) + 1 :] if path.startswith(f"{root}/") else None


def _entries(listed: str) -> list[str]:
    """Return the entries of a list; some have several lines."""
    return re.split(r"\n(?=- )", listed) if listed else []

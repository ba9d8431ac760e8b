"""Claude Code's block: a reminder with a section for each file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from fairtrial.model.harness import LoadedText

_HEAD: Final = (
    "Codebase and user instructions are shown below. Be sure to adhere to these instructions. "
    "IMPORTANT: These instructions OVERRIDE any default behavior and you MUST follow them exactly "
    "as written."
)
_KNOWN: Final = "Codebase and user instructions are shown below."
_OPENED: Final = "<system-reminder>"
_CLOSED: Final = "</system-reminder>"
_PROJECT: Final = "project instructions, checked into the codebase"
_PRIVATE: Final = "user's private project instructions, not checked in"
_BETWEEN: Final = "\n\n"
_SECTION: Final = re.compile(r"(?<=\n\n)Contents of (?P<path>[^\n]+) \((?P<what>[^()\n]+)\):\n\n")
_END: Final = re.compile(
    r"\n(?=# (?:gitStatus|currentDate|userEmail)\n|\n {6}IMPORTANT: this context may or may not|"
    r"</system-reminder>)"
)
"""What may stand behind the last section: older versions told of more in the same reminder."""
_LATER: Final = re.compile(
    rf"(?P<before>{_OPENED}\nContents of (?P<path>[^\n]+):\n\n)(?P<text>.*)"
    rf"(?P<after>\n{_CLOSED}\s*)\Z",
    re.DOTALL,
)
"""What is told of a file once the agent touches what it is about."""
_TITLE: Final = "# claudeMd\n"


@dataclass(frozen=True, slots=True)
class _Section:
    """A file of a block: its path as it was recorded, what it is called, and its text."""

    path: str
    what: str
    text: str

    def __str__(self) -> str:
        return f"Contents of {self.path} ({self.what}):\n\n{self.text}"

    def inside(self, root: str) -> str | None:
        """Return its path from the root of the repository; None when it is not in it."""
        top = root.rstrip("/\\")
        below = self.path.startswith((f"{top}/", f"{top}\\"))
        return self.path[len(top) + 1 :].replace("\\", "/") if below else None


@dataclass(frozen=True, slots=True)
class _Block:
    """A text with a block in it: what stands before its sections, they, and what follows."""

    before: str
    sections: tuple[_Section, ...]
    after: str


def block(texts: Sequence[LoadedText], root: str, _cwd: str) -> str:
    """See `harness.block.block`."""
    told = _BETWEEN.join(str(_section(text, root, {})) for text in texts)
    return f"{_OPENED}\n{_HEAD}\n\n{told}\n{_CLOSED}"


def recorded(text: str, root: str) -> tuple[LoadedText, ...]:
    """See `harness.block.recorded`."""
    found = _read(text)
    sections = found.sections if found else ()
    return tuple(
        LoadedText(path, section.text, section.what == _PRIVATE)
        for section in sections
        if (path := section.inside(root)) is not None
    )


def exchanged(text: str, texts: Sequence[LoadedText], root: str, _cwd: str) -> str:
    """See `harness.block.exchanged`."""
    found = _read(text)
    if found is None:
        return text
    known = {section.inside(root): section.what for section in found.sections}
    order = [path for path in known if path is not None]
    told = [_section(one, root, known) for one in _as_recorded(texts, order)]
    sections = _with_others(told, found.sections, root)
    if sections:
        return found.before + _BETWEEN.join(map(str, sections)) + found.after
    return _without_block(found)


def later_path(text: str, root: str) -> str | None:
    """Return which file of the repository a reminder in the middle of a session tells of.

    None when the text is no such reminder, or the file is not of the repository.
    """
    found = _LATER.match(text)
    return None if found is None else _Section(found["path"], "", "").inside(root)


def exchanged_later(text: str, told: str | None) -> str:
    """Return such a reminder with another text of the file; empty without one."""
    found = _LATER.match(text)
    if found is None:
        return text
    return "" if told is None else f"{found['before']}{told}{found['after']}"


def _read(text: str) -> _Block | None:
    head = text.find(_KNOWN)
    starts = list(_SECTION.finditer(text, head)) if head >= 0 else []
    if not starts or _OPENED not in text[:head]:
        return None
    # What looks like an end within a file is none: the last one is it, and the first of its run.
    last = starts[-1].end()
    closed = text.find(f"\n{_CLOSED}", last)
    limit = len(text) if closed < 0 else closed
    end = _END.search(text, last, limit + len(_CLOSED) + 1)
    stop = end.start() if end else limit
    ends = [start.start() - len(_BETWEEN) for start in starts[1:]] + [stop]
    sections = tuple(
        _Section(start["path"], start["what"], text[start.end() : end_])
        for start, end_ in zip(starts, ends, strict=True)
    )
    return _Block(text[: starts[0].start()], sections, text[stop:])


def _section(text: LoadedText, root: str, known: dict[str | None, str]) -> _Section:
    usual = _PRIVATE if text.private else _PROJECT
    path = f"{root.rstrip('/')}/{text.path}"
    return _Section(path, known.get(text.path, usual), text.text)


def _as_recorded(texts: Sequence[LoadedText], order: Sequence[str]) -> list[LoadedText]:
    """Return texts with the rules of a folder in the order in which they were told.

    That is the order of the file system there, which no path tells.
    """
    places = {path: number for number, path in enumerate(order)}
    folders: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        folder, rules, _ = text.path.partition(".claude/rules/")
        if rules and text.path in places:
            folders.setdefault(folder, []).append(number)
    found = list(texts)
    for numbers in folders.values():
        ordered = sorted((texts[number] for number in numbers), key=lambda one: places[one.path])
        for number, text in zip(numbers, ordered, strict=True):
            found[number] = text
    return found


def _with_others(
    told: Sequence[_Section], sections: Iterable[_Section], root: str
) -> list[_Section]:
    """Return the told sections with those that are not of the repository where they were.

    Each stays behind the file that it stood behind, or the nearest before that which is left.
    """
    left = {section.path for section in told}
    behind: dict[str, list[_Section]] = {}
    at = ""
    for section in sections:
        if section.inside(root) is None:
            behind.setdefault(at, []).append(section)
        elif section.path in left:
            at = section.path
    found = behind.get("", []).copy()
    for section in told:
        found += [section, *behind.get(section.path, [])]
    return found


def _without_block(found: _Block) -> str:
    """Return the text without a block that tells nothing; empty when it was all of it."""
    before = found.before[: found.before.rindex(_KNOWN)].removesuffix(_TITLE)
    rest = (before + found.after.lstrip("\n")).strip()
    empty = not rest.removeprefix(_OPENED).removesuffix(_CLOSED).strip()
    return "" if empty else before + found.after.lstrip("\n")

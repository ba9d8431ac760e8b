"""The skills and commands that an agent lists at the start of a session, by their descriptions."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fairtrial.harness.block import CLAUDE_CODE, CODEX
from fairtrial.harness.loading.folders import folders_to
from fairtrial.harness.markdown import front_matter
from fairtrial.model.harness import Harness

_CLAUDE_LONGEST: Final = 1536
_CODEX_LONGEST: Final = 1024
_FIRST_LINE: Final = 100
_CUT: Final = "…"
_SKILL: Final = "SKILL.md"
_CODEX_FOLDERS: Final = (".agents/skills/", ".codex/skills/")


def listed(agent: str, harness: Harness, cwd: str = "") -> tuple[str, ...]:
    """Return the lines `- NAME: DESCRIPTION` that tell of the harness's skills and commands.

    Claude Code lists the skills and commands of the session's folder first, then those of the
    folders around it, and none that only users call or that wait for files; what has no description
    stands with its first line. Codex lists skills by name, and none without front matter.

    Args:
        agent: `claude-code` or `codex`; others list nothing that is known of.
        harness: The files.
        cwd: The folder of the session, from the root of the repository.

    Raises:
        UsageError: the folder is outside of the repository.
    """
    if agent == CLAUDE_CODE:
        return tuple(claude_listed(harness, cwd).values())
    if agent == CODEX:
        return tuple(f"- {one.name}: {one.told}" for one in codex_listed(harness, cwd))
    return ()


def claude_listed(harness: Harness, cwd: str) -> dict[str, str]:
    """Return the lines that Claude Code lists, by the names that it calls them by."""
    return dict(_claude_lines(harness, folders_to(cwd)[::-1]))


def _claude_lines(harness: Harness, near_first: list[str]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for name, text, usual in (
        *_claude_skills(harness, near_first),
        *_claude_commands(harness, near_first),
    ):
        if name in seen:
            continue
        seen.add(name)
        fields, body = front_matter(text)
        if fields.get("disable-model-invocation") is True or fields.get("paths"):
            continue
        called = fields.get("name")
        known = f"{name} ({called})" if usual and called and called != name else name
        told = _claude_told(fields, body, usual)
        if told:
            yield name, f"- {known}: {told}"


def _claude_told(fields: Mapping[str, Any], body: str, usual: str) -> str:
    told = str(fields.get("description") or "").strip()
    if not told:
        lines = (line.strip() for line in body.split("\n"))
        first = next((line.lstrip("#").strip() for line in lines if line), usual)
        told = first if len(first) <= _FIRST_LINE else first[: _FIRST_LINE - 3] + "..."
    when = fields.get("when_to_use")
    whole = f"{told} - {when}" if when else told
    whole = whole.replace("\n", " ")
    return whole if len(whole) <= _CLAUDE_LONGEST else whole[: _CLAUDE_LONGEST - 1] + _CUT


def _claude_skills(harness: Harness, folders: list[str]) -> Iterator[tuple[str, str, str]]:
    for folder in folders:
        start = posixpath.join(folder, ".claude/skills/")
        for path, text in harness.files.items():
            name, slash, file = path.removeprefix(start).partition("/")
            if path.startswith(start) and slash and file == _SKILL:
                yield name, text, "Skill"


def _claude_commands(harness: Harness, folders: list[str]) -> Iterator[tuple[str, str, str]]:
    for folder in folders:
        start = posixpath.join(folder, ".claude/commands/")
        for path, text in harness.files.items():
            if path.startswith(start) and path.endswith(".md"):
                name = path.removeprefix(start).removesuffix(f"/{_SKILL}").removesuffix(".md")
                yield name.replace("/", ":"), text, ""


@dataclass(frozen=True, slots=True, order=True)
class CodexSkill:
    """A skill that Codex lists: its name, the path of its file, and what is told of it."""

    name: str
    path: str
    told: str


def codex_listed(harness: Harness, cwd: str) -> list[CodexSkill]:
    """Return the skills that Codex lists, in their order."""
    found = []
    starts = [posixpath.join(folder, name) for folder in folders_to(cwd) for name in _CODEX_FOLDERS]
    for path, text in harness.files.items():
        folder, _, file = path.rpartition("/")
        if file != _SKILL or not path.startswith(tuple(starts)):
            continue
        fields, _ = front_matter(text)
        told = " ".join(str(fields.get("description") or "").split())
        if told and not _is_hidden(harness.files.get(f"{folder}/agents/openai.yaml", "")):
            name = str(fields.get("name") or posixpath.basename(folder))
            cut = told if len(told) <= _CODEX_LONGEST else told[: _CODEX_LONGEST - 3] + "..."
            found.append(CodexSkill(name, path, cut))
    return sorted(found)


def _is_hidden(policy: str) -> bool:
    import yaml  # noqa: PLC0415  # only for skills with settings of their own

    try:
        given = yaml.safe_load(policy)
    except yaml.YAMLError:
        return False
    rules = given.get("policy") if isinstance(given, dict) else None
    return isinstance(rules, dict) and rules.get("allow_implicit_invocation") is False

"""What belongs to a harness: the files of a repository that coding agents take orders from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from typing import Final


class Part(StrEnum):
    """What a file of a harness is for."""

    INSTRUCTIONS = "instructions"
    """An agent is told of it when a session starts at its folder or below."""
    RULE = "rule"
    """Told at the start, or when files that it is about are touched."""
    SKILL = "skill"
    """Listed by its description, and read when it is wanted; its further files, too."""
    AGENT = "agent"
    """A helper that an agent may start."""
    COMMAND = "command"
    """A prompt that is called by its name."""
    IMPORTED = "imported"
    """Named with `@path` by one of the others."""


PATTERNS: Final[Mapping[Part, tuple[str, ...]]] = {
    Part.INSTRUCTIONS: (
        "**/CLAUDE.md",
        "**/CLAUDE.local.md",
        "**/AGENTS.md",
        "**/AGENTS.override.md",
        "**/GEMINI.md",
        "**/.pi/SYSTEM.md",
        "**/.pi/APPEND_SYSTEM.md",
    ),
    Part.RULE: ("**/.claude/rules/**/*.md",),
    Part.SKILL: (
        "**/.claude/skills/**",
        "**/.agents/skills/**",
        "**/.codex/skills/**",
        "**/.gemini/skills/**",
        "**/.opencode/skill/**",
        "**/.opencode/skills/**",
        "**/.pi/skills/**",
    ),
    Part.AGENT: (
        "**/.claude/agents/**/*.md",
        "**/.codex/agents/*.toml",
        "**/.gemini/agents/*.md",
        "**/.opencode/agent/**/*.md",
        "**/.opencode/agents/**/*.md",
    ),
    Part.COMMAND: (
        "**/.claude/commands/**/*.md",
        "**/.gemini/commands/**/*.toml",
        "**/.opencode/command/**/*.md",
        "**/.opencode/commands/**/*.md",
        "**/.pi/prompts/*.md",
    ),
}
"""Paths from the root of a repository, as git's `:(glob)` reads them."""

PRIVATE: Final = "CLAUDE.local.md"
"""Instructions that are a user's own: git mostly ignores them, and the agent reads them."""

FOREIGN: Final = frozenset({".git", "node_modules", "site-packages", ".venv", "venv"})
"""Folders of other people's code; its instructions are for those who work on it."""
_SECRET: Final = re.compile(r"(?:\.env(?:\..*)?|.*\.(?:pem|key|p12|pfx)|id_(?:rsa|dsa|ed25519))\Z")
_LIKELY: Final = re.compile(
    r"(?:\A|/)(?:(?:CLAUDE|AGENTS|GEMINI)[^/]*\Z|\.(?:claude|agents|codex|gemini|opencode|pi)/)"
)
"""What the patterns have in common: most files of a repository are none, which one look tells."""
_FOLDERS: Final = frozenset({".claude", ".agents", ".codex", ".gemini", ".opencode", ".pi"})


def part_of(path: str) -> Part | None:
    """Return what a file is for by its path from the root of the repository.

    None when it does not belong by its path; what others import belongs by its being named.
    """
    if _LIKELY.search(path) is None:
        return None
    if FOREIGN.intersection(path.split("/")) or is_secret(path):
        return None
    return next((part for part, rule in _rules().items() if rule.match(path)), None)


def is_secret(path: str) -> bool:
    """Return whether a file holds secrets by its name: it is never read into a harness."""
    return _SECRET.match(path.rpartition("/")[2]) is not None


def may_lead_to_some(path: str) -> bool:
    """Return whether files below a folder of this path may belong for where it is."""
    if "." not in path:
        return False
    parts = path.split("/")
    return bool(_FOLDERS.intersection(parts)) and not FOREIGN.intersection(parts)


def has_imports(part: Part) -> bool:
    """Return whether agents follow the `@path` of such files."""
    return part in (Part.INSTRUCTIONS, Part.RULE, Part.IMPORTED)


def pathspecs(imported: Iterable[str]) -> list[str]:
    """Return what git looks at to find changes of a harness: all that may belong, and imports."""
    globs = [f":(top,glob){pattern}" for patterns in PATTERNS.values() for pattern in patterns]
    return globs + [f":(top,literal){path}" for path in imported]


@cache
def _rules() -> dict[Part, re.Pattern[str]]:
    return {
        part: re.compile(f"(?:{'|'.join(map(_regex, patterns))})\\Z", re.DOTALL)
        for part, patterns in PATTERNS.items()
    }


def _regex(pattern: str) -> str:
    """Return the regular expression of a glob whose `**` stands for folders, or for all below."""
    stand = {"**/": "(?:.*/)?", "**": ".+", "*": "[^/]*"}
    pieces = re.split(r"(\*\*/|\*\*\Z|\*)", pattern)
    return "".join(stand.get(piece) or re.escape(piece) for piece in pieces)

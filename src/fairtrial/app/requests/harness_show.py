"""Options of `harness show`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """List what steers agents in a repository, and what each is told of it.

    That is AGENTS.md, CLAUDE.md and the like at every level, what they import, rules, skills,
    agents and commands. Of these, Claude Code and Codex are told some texts when a session starts
    in a folder: in which order, and how long they are.
    """

    source: str | None = option(None, positional=True, metavar="FILE|DIR|git:REV|BUNDLE|none")
    """What to read: a file in the place of the current one, a folder, a commit, or what `harness
    save` wrote (default: the repository's files as they are)"""
    agent: Literal["claude-code", "codex"] | None = option(None, metavar="AGENT")
    """Show the texts themselves, as this agent is told them"""
    cwd: Path | None = option(None, metavar="DIR")
    """The folder in the repository that a session starts in (default: the current one)"""


EXAMPLES = (
    "fairtrial harness show",
    "fairtrial harness show --agent claude-code --cwd packages/api",
    "fairtrial harness show git:HEAD~3 --json",
)

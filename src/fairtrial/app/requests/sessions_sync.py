"""Options of `sessions sync`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Read the sessions that coding agents recorded since the last time.

    Transcripts are found where the agents keep them: CLAUDE_CONFIG_DIR or ~/.claude, CODEX_HOME or
    ~/.codex, XDG_DATA_HOME or ~/.local/share (opencode), GEMINI_CLI_HOME or ~ (.gemini),
    PI_CODING_AGENT_DIR or ~/.pi/agent. Trajectories (ATIF), e.g. in the folder of a Harbor job, and
    what `opencode export` printed are read with --path. What was read before is not read again.
    Keys and tokens are taken out before anything is stored, and nothing leaves this machine.
    """

    agent: str | None = option(None, metavar="AGENT")
    """Only sessions of this agent: claude-code, codex, opencode, gemini, pi or atif"""
    path: tuple[Path, ...] = option((), metavar="PATH")
    """Read these files and folders instead, whoever wrote them"""
    anew: bool = option(default=False)
    """Read all files from their start again"""
    removed: bool = option(default=False)
    """Read the sessions that `sessions rm` removed, too"""


EXAMPLES = (
    "fairtrial sessions sync",
    "fairtrial sessions sync --agent codex --json",
    "fairtrial sessions sync --path ~/backup/.claude/projects",
    "fairtrial sessions sync --path jobs/2026-11-29__12-00-00",
)

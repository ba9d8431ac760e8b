"""Options of `init`."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Let Claude Code and Codex tell fairtrial of their sessions, by hooks in their settings.

    From then on a session is in the store when it ends, and what its repository held before each
    turn is kept. The changes are shown, and made only with your consent. --undo takes back what
    was added, whatever else you have changed since. `fairtrial doctor` says whether it works.

    With --mcp they get tools instead of hooks: the server `fairtrial mcp` is put into their
    settings, so that an agent can read sessions, run experiments and make evals.
    """

    agent: tuple[str, ...] = option((), metavar="AGENT")
    """Only for this agent, whether it is found here or not: claude-code or codex"""
    mcp: bool = option(default=False)
    """Register the MCP server with the agents, or with --undo take it out again; hooks stay as
    they are"""
    project: bool = option(default=False)
    """Change the settings of this repository instead of yours; hooks of it do nothing where there
    is no fairtrial"""
    undo: bool = option(default=False)
    """Take out what `fairtrial init` added"""
    dry_run: bool = option(default=False)
    """Show the changes and make none"""
    yes: bool = option(default=False, short="-y")
    """Consent to the changes; without a terminal to ask on this is needed"""


EXAMPLES = (
    "fairtrial init --dry-run",
    "fairtrial init --yes",
    "fairtrial init --agent codex",
    "fairtrial init --mcp",
    "fairtrial init --mcp --project --agent claude-code",
    "fairtrial init --undo --yes",
)

"""What an agent is told of a harness at the start of a session, by the name of the agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from fairtrial.harness.loading import claude_code, codex
from fairtrial.model.errors import UsageError
from fairtrial.model.harness import Harness, LoadedText

LOADED: Final[Mapping[str, Callable[[Harness, str], tuple[LoadedText, ...]]]] = {
    "claude-code": claude_code.loaded,
    "codex": codex.loaded,
}
"""The agents of which it is known."""


def loaded(agent: str, harness: Harness, cwd: str = "") -> tuple[LoadedText, ...]:
    """Return the texts that an agent is told at the start of a session, in their order.

    Args:
        agent: `claude-code` or `codex`.
        harness: The files.
        cwd: The folder of the session, from the root of the repository.

    Raises:
        UsageError: it is not known of this agent, or the folder is outside of the repository.
    """
    if agent not in LOADED:
        raise UsageError(
            f"what {agent} is told of a harness is not known", fix=f"known: {', '.join(LOADED)}"
        )
    return LOADED[agent](harness, cwd)

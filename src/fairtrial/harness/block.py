"""The block of instructions in a request, and the same block with another harness in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fairtrial.harness.blocks import claude_code, codex
from fairtrial.model.errors import UsageError
from fairtrial.model.harness import LoadedText

CLAUDE_CODE: Final = "claude-code"
CODEX: Final = "codex"

Texts = Sequence[LoadedText]


@dataclass(frozen=True, slots=True)
class _Form:
    """How an agent writes its block: see `block`, `exchanged` and `recorded`."""

    block: Callable[[Texts, str, str], str]
    exchanged: Callable[[str, Texts, str, str], str]
    recorded: Callable[[str, str], tuple[LoadedText, ...]]


_FORMS: Final[Mapping[str, _Form]] = {
    CLAUDE_CODE: _Form(claude_code.block, claude_code.exchanged, claude_code.recorded),
    CODEX: _Form(codex.block, codex.exchanged, codex.recorded),
}


def block(agent: str, texts: Texts, root: str, cwd: str = ".") -> str:
    """Return the block of instructions that a session is told; empty without texts.

    Args:
        agent: `claude-code` or `codex`.
        texts: What is told, in its order.
        root: The root of the repository, as the agent saw it.
        cwd: The folder of the session, from the root.

    Raises:
        UsageError: the block of this agent is not known.
    """
    return _form(agent).block(texts, root, cwd) if texts else ""


def exchanged(text: str, agent: str, texts: Texts, root: str, cwd: str = ".") -> str:
    """Return a recorded block with other texts in the place of the repository's own.

    What is not of the repository, such as the user's own instructions, stays as it was recorded.
    The texts that were recorded give the recorded block, byte by byte.

    Args:
        text: The text that holds the block.
        agent: `claude-code` or `codex`.
        texts: What is told instead, in its order.
        root: The root of the repository, as the agent saw it.
        cwd: The folder of the session, from the root.

    Returns:
        The text; empty when nothing is left to tell. A text without a block is returned as it is.

    Raises:
        UsageError: the block of this agent is not known.
    """
    return _form(agent).exchanged(text, texts, root, cwd)


def recorded(text: str, agent: str, root: str) -> tuple[LoadedText, ...]:
    """Return the texts of the repository that a recorded block tells, in their order.

    Codex does not say which file a text is of: it has one, without a path.

    Raises:
        UsageError: the block of this agent is not known.
    """
    return _form(agent).recorded(text, root)


def _form(agent: str) -> _Form:
    if agent not in _FORMS:
        raise UsageError(
            f"how {agent} is told of a harness is not known", fix=f"known: {', '.join(_FORMS)}"
        )
    return _FORMS[agent]

"""Which coding agent works on eval tasks, and what it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """The agent and its workspace."""

    agent: Literal["claude-code", "codex", "command"] | None = option(None, metavar="AGENT")
    """claude-code, codex, or command: a command of your own (default: command with --command, else
    the agent whose sessions the tasks come from, else the one that is found)"""
    command: str | None = option(None, metavar="CMD")
    """Your own agent: it gets the instruction on standard input and edits the files of its working
    directory"""
    model: str | None = option(None, short="-m", metavar="MODEL")
    """The agent's model (default: the agent's own choice)"""
    effort: str | None = option(None, metavar="EFFORT")
    """How hard the model thinks, in the agent's own words"""
    max_turns: Annotated[int, Meta(ge=1)] | None = option(None, metavar="N")
    """Turns the agent may take, where it can be told"""
    program: str | None = option(None, metavar="PATH")
    """The agent's program (default: claude or codex on PATH)"""
    harness: str | None = option(None, metavar="FILE|DIR")
    """Instructions put over those of the workspace: a file such as AGENTS.md, or a folder of files,
    each under its own name"""
    level: Literal["none", "bwrap", "image"] | None = option(None, metavar="LEVEL")
    """What stands between the agent and the machine: bwrap, image or none (default: image for a
    task that needs one, else bwrap); none lets it do whatever you can"""
    memory_mb: Annotated[int, Meta(ge=16)] | None = option(None, metavar="MB")
    """Memory of all the agent's processes, where the machine can hold them to it"""
    processes: Annotated[int, Meta(ge=8)] | None = option(None, metavar="N")
    """Processes of the agent at a time, where the machine can hold it to that"""
    visible: tuple[str, ...] = option((), metavar="DIR")
    """Folder of this machine that the agent may read at level bwrap, beside those of PATH"""
    pass_env: tuple[str, ...] = option((), metavar="NAME")
    """With --command: a variable of your environment that passes to it"""

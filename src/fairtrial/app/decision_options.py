"""Options that choose decision points of captured sessions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class DecisionSelection:
    """Which decision points are taken, the newest first."""

    behavior: tuple[str, ...] = option((), metavar="NAME")
    """A behavior whose decision points are taken: unverified-claim, done-while-failing,
    unchanged-retry, or one of --anchor; several with commas, too (default: all)"""
    anchor: tuple[Path, ...] = option((), metavar="FILE")
    """A Python module of yours that finds decision points of your own behaviors"""
    since: str = option("14d", metavar="TIME")
    """Only sessions that ended since then: 2026-11-29, or an age such as 14d"""
    agent: tuple[str, ...] = option((), metavar="AGENT")
    """Only sessions of this agent: claude-code, codex; several with commas, too"""
    repo: Path | None = option(None, metavar="DIR|all")
    """Only sessions of the repository around this folder, whichever of its worktrees they were in;
    `all` takes those of every repository (default: all; for exp ab the repository you are in)"""
    limit: Annotated[int, Meta(ge=1, le=1000)] = option(40, short="-n", metavar="N")
    """Most decision points to take"""

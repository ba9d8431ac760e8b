"""What an agent did in a trial, and what the verifier printed, as text."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from fairtrial.analysis.eval_words import session_command
from fairtrial.cli.render.lines import block, line
from fairtrial.model.json import Json

LONGEST = 20_000
"""Characters of a change or of what was printed that are shown; `--json` has it whole."""


def is_agents(output: Json) -> bool:
    """Return whether an output is what a coding agent changed."""
    return isinstance(output, Mapping) and "patch" in output and "isolation" in output


def render_agents(output: Mapping[str, Json], console: Console) -> None:
    """Print an agent's last words, what it changed, its session, and what it must not have seen."""
    if output.get("answer"):
        line(console, "  answer")
        block(console, _start(output["answer"]))
    patch = str(output["patch"])
    line(console, "  change" if patch else "  changed nothing")
    if patch:
        block(console, _start(patch.rstrip("\n")))
    for leak in output.get("leaks") or ():
        line(console, f"  leak  {leak}", "yellow")
    if output.get("session"):
        line(console, f"  session  {session_command(str(output['session']))}")
    isolation = output.get("isolation")
    if isinstance(isolation, Mapping):
        broken = [str(held["what"]) for held in isolation.get("held") or () if not held["holds"]]
        without = f"; did not hold: {', '.join(broken)}" if broken else ""
        line(console, f"  isolation  {isolation.get('level')}{without}")


def render_printed(detail: Json, console: Console) -> None:
    """Print what a verifier printed; nothing for what another grader found."""
    if not isinstance(detail, Mapping) or "exit_status" not in detail:
        return
    for stream in ("stdout", "stderr"):
        text = str(detail.get(stream) or "").strip("\n")
        if text:
            line(console, f"      verifier's {stream}", "dim")
            block(console, _end(text), indent="        ")


def _start(text: Json) -> str:
    text = str(text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… (cut)"


def _end(text: str) -> str:
    return text if len(text) <= LONGEST else f"(cut) …\n{text[-LONGEST:]}"

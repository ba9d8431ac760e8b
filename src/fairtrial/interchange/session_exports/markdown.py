"""Markdown: the transcript as one reads it, with the flags at their turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from fairtrial.interchange.experiment_exports.markdown import block, code
from fairtrial.interchange.experiment_exports.visible_text import preview, visible
from fairtrial.model.flag import Flag
from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
    Compaction,
    Prompt,
    Result,
    Said,
    SessionEvent,
)
from fairtrial.ports.sessions import FlaggedSession

_LONGEST = 4_000


def write(found: FlaggedSession, events: Sequence[SessionEvent], stream: TextIO) -> None:
    """Write a session for people."""
    flags: dict[int, list[Flag]] = {}
    for flag in found.flags:
        if flag.evidence:
            flags.setdefault(flag.evidence[-1], []).append(flag)
    stream.writelines(f"{line}\n" for line in _head(found))
    for event in events:
        stream.writelines(f"{line}\n" for line in _event(event))
        for flag in flags.get(event.number, ()):
            stream.write(f"> **{flag.name}** ({flag.level.value}): {code(flag.summary, 500)}\n\n")


def _head(found: FlaggedSession) -> Iterator[str]:
    session = found.session
    yield f"# {session.agent}: {code(_first_line(session.first_prompt))}"
    yield ""
    facts = {
        "session": session.id,
        "folder": session.cwd,
        "branch": session.branch,
        "commit": session.commit,
        "models": ", ".join(session.models) or None,
        "state": session.state.value,
    }
    for name, value in facts.items():
        if value is not None:
            yield f"- {name}: {code(value)}"
    for flag in found.flags:
        yield f"- flag {flag.name} ({flag.level.value}): {code(flag.summary, 500)}"
    yield ""


def _first_line(text: str | None) -> str:
    lines = (text or "").strip().splitlines()
    return lines[0] if lines else "a session without a prompt"


def _event(event: SessionEvent) -> Iterator[str]:
    thread = "" if event.thread == MAIN else f" in {code(event.thread)}"
    place = f"#{event.number}{thread}"
    match event:
        case Prompt():
            yield from (f"## {place} {event.source.value}", "", block(visible(event.text)), "")
        case Said():
            yield from (f"**{place} said**", "", block(visible(event.text)), "")
        case Call():
            shown = event.command if event.command is not None else event.input
            yield f"**{place} {code(event.tool)}**"
            yield from ("", block(preview(shown, _LONGEST)), "")
        case Result():
            ended = event.status.value
            if event.exit_code is not None:
                ended += f", exit {event.exit_code}"
            yield f"{place} result: {ended}"
            yield from ("", block(preview(event.text, _LONGEST)), "")
            for change in event.changes:
                yield f"{change.kind.value} {code(change.path)}"
                yield from ("", block(preview(change.diff, _LONGEST)), "")
        case ApiTrouble():
            yield from (f"{place} trouble with the API: {code(event.text, 500)}", "")
        case Compaction():
            yield from (f"{place} the conversation was replaced by a summary", "")
        case _:
            return

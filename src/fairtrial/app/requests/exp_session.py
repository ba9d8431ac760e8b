"""Options of `exp session`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fairtrial.app.requests.exp_run import Name
from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Group runs into a session: begin one, note a thought, read its timeline.

    While a project has a session, each `exp run` joins it and says what changed since the run
    before, paired on shared cases; `--no-session` keeps a run out of it. A new session closes the
    one before. The project is the repository around the current folder, or the folder itself.
    """

    action: Literal["new", "note", "summary"] = option(positional=True)
    """new, note or summary"""
    text: tuple[str, ...] = option((), positional=True)
    """With note: the note, such as a guess before a run or what you saw after it"""
    name: Name | None = option(None, metavar="NAME")
    """With new: what the session is about (default: the day). With summary: the session to read
    (default: the open one)"""
    to: Literal["markdown"] | None = option(None, metavar="FORMAT")
    """With summary: write it as markdown"""
    output: Path | None = option(None, short="-o", metavar="FILE")
    """With --to: the file to write, beside the usual report (default: standard output, instead of
    it)"""


EXAMPLES = (
    "fairtrial exp session new --name shorter-prompt",
    'fairtrial exp session note "guess: the shorter prompt fixes c3"',
    "fairtrial exp session summary",
    "fairtrial exp session summary --name shorter-prompt --to markdown -o notes.md",
)

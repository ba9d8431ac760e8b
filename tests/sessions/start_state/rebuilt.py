"""Rebuilding what a written transcript began with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.sessions.start_state.repo import ENVIRON, Repo, tree_of
from tests.sessions.story import Story
from tests.sessions.transcripts import Claude, Codex, read

from fairtrial.analysis.session_events import in_order
from fairtrial.model.session import Session, SessionEvent
from fairtrial.model.snapshot import Snapshot
from fairtrial.model.start_state import StartState
from fairtrial.sessions.readers.claude_code.reader import ClaudeCodeReader
from fairtrial.sessions.readers.codex.reader import CodexReader
from fairtrial.sessions.repositories import Repositories
from fairtrial.sessions.start_state.laying_out import LaidOut, lay_out
from fairtrial.sessions.start_state.rebuilding import Means, start_state

LATER = datetime.now(UTC) + timedelta(days=1)
"""After all that a test writes."""


def untouched(data: bytes) -> bytes:
    return data


@dataclass(frozen=True)
class Told:
    """A session as it was read, and what rebuilding it takes."""

    session: Session
    events: list[SessionEvent]

    def state(
        self,
        repo: Path | None = None,
        snapshots: Iterable[Snapshot] = (),
        clean: Callable[[bytes], bytes] = untouched,
    ) -> StartState:
        return start_state(self.session, self.events, Means(ENVIRON, clean, tuple(snapshots), repo))


def told(transcript: Claude | Codex, folder: Path, **changed: Any) -> Told:
    """Return a session as its reader reads it; fields of it may be changed."""
    reader = ClaudeCodeReader() if isinstance(transcript, Claude) else CodexReader()
    path = transcript.write(folder)
    events, reading = read(reader, path)
    facts = reading.facts()
    session = replace(
        Story().session(),
        agent=facts.agent,
        native_id=facts.native_id,
        files=(str(path),),
        cwd=facts.cwd,
        repo=Repositories().around(facts.cwd),
        branch=facts.branch,
        commit=facts.commit,
        started_at=facts.started_at,
        ended_at=facts.ended_at,
    )
    return Told(replace(session, **changed), in_order([events]))


def claude_in(cwd: Path | str, at: datetime = LATER, **envelope: Any) -> Claude:
    """Return a writer of a session in a folder."""

    class Here(Claude):
        def add(self, kind: str, **fields: Any) -> dict[str, Any]:
            return super().add(kind, **{"cwd": str(cwd), **envelope, **fields})

    claude = Here()
    claude._at = at
    return claude


def codex_in(cwd: Path | str, commit: str | None, at: datetime = LATER, **meta: Any) -> Codex:
    git = {} if commit is None else {"git": {"commit_hash": commit, "branch": "main"}}
    codex = Codex(**{"cwd": str(cwd), "git": None, **git, **meta})
    codex._at = at
    for record in codex.records:
        record["timestamp"] = at.isoformat()
        if "cwd" in record["payload"]:
            record["payload"]["cwd"] = str(cwd)
    return codex


def began(claude: Claude, repo: Repo, status: str | None = None, commit: str | None = None) -> None:
    """Let Claude Code record the git status of a repository, as it does, and a prompt."""
    short = repo.git("status", "--short") if status is None else status
    text = (
        "This is the git status at the start of the conversation.\n\nCurrent branch: main\n\n"
        f"Status:\n{short.strip() or '(clean)'}\n\nRecent commits:\n"
        f"{repo.git('log', '-1', '--format=%h %s') if commit is None else commit}"
    )
    context = {"type": "session_context", "context": {"gitStatus": text}}
    claude.add("attachment", attachment=context)
    claude.prompt("Go.")


def edited(claude: Claude, place: Path | str, before: str, after: str) -> None:
    """Let it edit a file; the file itself is not changed."""
    call_id = f"e{len(claude.records)}"
    claude.next_message()
    given = {"file_path": str(place), "old_string": before, "new_string": after}
    claude.call(call_id, "Edit", given)
    result = {"filePath": str(place), "oldString": before, "newString": after}
    claude.result(call_id, "ok", {**result, "originalFile": before, "structuredPatch": []})


def wrote(claude: Claude, place: Path | str, before: str | None, after: str) -> None:
    call_id = f"w{len(claude.records)}"
    claude.next_message()
    claude.call(call_id, "Write", {"file_path": str(place), "content": after})
    kind = "create" if before is None else "update"
    result = {"type": kind, "filePath": str(place), "content": after, "originalFile": before}
    claude.result(call_id, "ok", {**result, "structuredPatch": []})


def saw(claude: Claude, place: Path | str, text: str) -> None:
    """Let it read a whole file."""
    call_id = f"r{len(claude.records)}"
    claude.next_message()
    claude.call(call_id, "Read", {"file_path": str(place)})
    n = text.count("\n") + 1
    file = {"filePath": str(place), "content": text, "startLine": 1, "numLines": n, "totalLines": n}
    claude.result(call_id, text, {"type": "text", "file": file})


def patched(codex: Codex, changes: dict[str, dict[str, Any]]) -> None:
    """Let Codex change files."""
    call_id = f"p{len(codex.records)}"
    codex.add(
        "response_item", type="custom_tool_call", name="apply_patch", call_id=call_id, input=""
    )
    codex.item("FileChange", id=call_id, changes=changes, status="completed")
    codex.output(call_id, "Exit code: 0\nOutput:\nSuccess.", kind="custom_tool_call_output")


def written(state: StartState, target: Path) -> tuple[dict[str, tuple[str, bytes]], LaidOut]:
    """Write a state, and return the tree that this makes."""
    laid_out = lay_out(state, target, ENVIRON)
    return tree_of(target), laid_out


def differing(
    true: dict[str, tuple[str, bytes]], rebuilt: dict[str, tuple[str, bytes]], state: StartState
) -> set[str]:
    """Return the files that are not as they truly were, but for those that are listed unknown."""
    unknown = {one.path for one in state.unknown}
    wrong = {path for path in true.keys() | rebuilt.keys() if true.get(path) != rebuilt.get(path)}
    return {
        path
        for path in wrong
        if path not in unknown
        and not any(folder.endswith("/") and path.startswith(folder) for folder in unknown)
    }

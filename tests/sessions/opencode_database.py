"""A small writer of the database of OpenCode, and of what `opencode export` prints."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

START_MS = 1_795_953_600_000
SNAPSHOT = "ab" * 20
_SCHEMA = """
CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT,
    directory TEXT, title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,
    time_updated INTEGER, data TEXT);
CREATE TABLE IF NOT EXISTS part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT,
    time_created INTEGER, time_updated INTEGER, data TEXT);
"""


class OpenCode:
    """Writes a session of OpenCode, message by message."""

    def __init__(self, session: str = "ses_one", at: int = START_MS, **fields: Any) -> None:
        self.session = session
        usual = {"id": session, "directory": "/home/dev/shop", "version": "1.18.33"}
        self.info: dict[str, Any] = {**usual, "time": {"created": at}, **fields}
        self.messages: list[tuple[dict[str, Any], list[Any]]] = []
        self._at = at

    def _tick(self) -> int:
        self._at += 1_000
        return self._at

    def prompt(self, text: str, *parts: Mapping[str, Any], **fields: Any) -> OpenCode:
        """Add a message of the user; without a text, only parts."""
        own = [{"type": "text", "text": text}] if text else []
        info = {"role": "user", "time": {"created": self._tick()}, **fields}
        self.messages.append((info, [*own, *parts]))
        return self

    def answer(self, *parts: Any, **fields: Any) -> OpenCode:
        """Add a message of the model, with one step."""
        created = self._tick()
        done = {"type": "step-finish", "reason": "stop", "snapshot": SNAPSHOT, "cost": 0.25}
        usual = {
            "role": "assistant",
            "modelID": "claude-sonnet-5-5",
            "providerID": "anthropic",
            "time": {"created": created, "completed": self._tick()},
            "finish": "tool-calls",
        }
        tokens = {"input": 100, "output": 50, "reasoning": 5, "cache": {"read": 1_000, "write": 0}}
        start = {"type": "step-start", "snapshot": SNAPSHOT}
        steps = [start, *parts, {**done, "tokens": {"total": 1_155, **tokens}}]
        self.messages.append(({**usual, **fields}, steps))
        return self

    def said(self, text: str, **fields: Any) -> OpenCode:
        return self.answer({"type": "text", "text": text}, **{"finish": "stop", **fields})

    def tool(
        self, tool: str, given: Any, output: str, metadata: Any = None, /, **state: Any
    ) -> dict[str, Any]:
        """Return a part of a tool that ended; `error` in the state says that it failed."""
        start = self._tick()
        told = {
            "status": "error" if "error" in state else "completed",
            "input": given,
            "output": output,
            "metadata": metadata or {},
            "time": {"start": start, "end": start + 500},
            **state,
        }
        call_id = f"call_{self.session}_{len(self.messages)}_{start}"
        return {"type": "tool", "tool": tool, "callID": call_id, "state": told}

    def ran(self, command: str, output: str, code: int | None = 0) -> OpenCode:
        """Add an answer that runs a command."""
        return self.answer(self.tool("bash", {"command": command}, output, {"exit": code}))

    def export(self, path: Path) -> Path:
        """Write what `opencode export` prints."""
        told = [{"info": info, "parts": parts} for info, parts in self.messages]
        path.write_text(json.dumps({"info": self.info, "messages": told}, indent=2))
        return path

    def save(self, database: Path) -> Path:
        """Write the session into a database, in place of what is there of it."""
        database.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)
            self.put(connection)
            connection.commit()
        return database

    def put(self, connection: sqlite3.Connection) -> None:
        """Write the session over a connection."""
        own, created = self.session, self.info["time"]["created"]
        for table, key in (("session", "id"), ("message", "session_id"), ("part", "session_id")):
            connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (own,))  # noqa: S608
        connection.execute(
            "INSERT INTO session VALUES (?, 'p', ?, ?, 'Title', ?, ?, ?)",
            (
                own,
                self.info.get("parentID"),
                self.info["directory"],
                self.info["version"],
                created,
                self._at,
            ),
        )
        for place, (info, parts) in enumerate(self.messages):
            name, at = f"msg_{own}_{place:04}", info["time"]["created"]
            row = (name, own, at, at, json.dumps(info))
            connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
            for number, part in enumerate(parts):
                text = part if isinstance(part, str | bytes) else json.dumps(part)
                prt = (f"prt_{own}_{place:04}_{number:04}", name, own, at, at, text)
                connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", prt)

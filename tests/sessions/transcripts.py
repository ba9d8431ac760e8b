"""Small writers of transcripts, in the forms that agents write."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fairtrial.model.session import SessionEvent
from fairtrial.ports.sessions import SessionReader, Transcript
from fairtrial.sessions.lines import lines

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
SESSION = "11111111-2222-4333-8444-555555555555"
OTHER = "99999999-2222-4333-8444-555555555555"


def untouched(line: bytes) -> bytes:
    """Return a line as it is."""
    return line


def as_bytes(records: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read(
    reader: SessionReader, path: Path, transcript: Transcript | None = None
) -> tuple[list[SessionEvent], Transcript]:
    """Return the events of a file, and what read it."""
    transcript = transcript or reader.start(path, untouched)
    events: list[SessionEvent] = []
    for line in lines(path):
        if line.data is None:
            transcript.clipped()
        else:
            events += transcript.feed(line.data)
    return events, transcript


class Claude:
    """Writes a session of Claude Code, record by record."""

    def __init__(self, session: str = SESSION, version: str = "2.1.332", seed: int = 1) -> None:
        self.session = session
        self.version = version
        self.records: list[dict[str, Any]] = []
        self._seed = seed
        self._at = START
        self._message = 0
        self._parent: str | None = None

    def add(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Add a record with the envelope that most records have."""
        self._at += timedelta(seconds=1)
        own = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self._seed} {len(self.records)}"))
        record = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "type": kind,
            "uuid": own,
            "timestamp": self._at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": "/home/dev/shop",
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": "main",
            **fields,
        }
        self._parent = own
        self.records.append(record)
        return record

    def plain(self, **fields: Any) -> None:
        """Add a record without an envelope."""
        self.records.append({**fields, "sessionId": self.session})

    def prompt(self, text: str, **fields: Any) -> None:
        message = {"role": "user", "content": text}
        self.add("user", **{"promptSource": "typed", "message": message, **fields})

    def next_message(self) -> None:
        """Begin another answer of the model."""
        self._message += 1

    def block(self, block: Mapping[str, Any], output: int = 50, **fields: Any) -> None:
        """Add one block of the model's answer."""
        message = {
            "id": f"msg_{self._seed}_{self._message}",
            "role": "assistant",
            "model": "claude-sonnet-5-5",
            "content": [block],
            "usage": {
                "input_tokens": 100,
                "output_tokens": output,
                "cache_read_input_tokens": 1_000,
                "cache_creation_input_tokens": 200,
            },
        }
        self.add("assistant", **{"message": message, **fields})

    def said(self, text: str, **fields: Any) -> None:
        self.block({"type": "text", "text": text}, **fields)

    def call(self, call_id: str, tool: str, given: Mapping[str, Any], **fields: Any) -> None:
        use = {"type": "tool_use", "id": call_id, "name": tool, "input": given}
        self.block(use, **fields)

    def result(
        self, call_id: str, text: Any, told: Any = None, *, failed: bool = False, **fields: Any
    ) -> None:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        content = [{**block, "is_error": failed}]
        if told is not None:
            fields["toolUseResult"] = told
        self.add("user", message={"role": "user", "content": content}, **fields)

    def ran(self, call_id: str, command: str, text: str, code: int = 0) -> None:
        """Add a command and what it brought."""
        self.next_message()
        self.call(call_id, "Bash", {"command": command})
        if code:
            error = f"Exit code {code}\n{text}"
            self.result(call_id, error, f"Error: {error}", failed=True)
        else:
            told = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
            self.result(call_id, text, told)

    def write(self, folder: Path, name: str | None = None) -> Path:
        """Write the session where Claude Code would, and return its path."""
        project = folder / "projects" / "-home-dev-shop"
        project.mkdir(parents=True, exist_ok=True)
        path = project / (name or f"{self.session}.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_bytes(self.records))
        return path


class Codex:
    """Writes a rollout of Codex in the newest form, or in that before 0.148 (`items=False`)."""

    def __init__(self, thread: str = SESSION, *, items: bool = True, **meta: Any) -> None:
        self.thread = thread
        self.items = items
        self.records: list[dict[str, Any]] = []
        self._at = START
        usual = {
            "id": thread,
            "cwd": "/home/dev/shop",
            "originator": "codex_exec",
            "cli_version": "0.171.0",
            "source": "exec",
            "git": {"commit_hash": "ab" * 20, "branch": "main"},
        }
        self.add("session_meta", **{**usual, **meta})
        self.add("turn_context", model="gpt-5.5", cwd="/home/dev/shop", turn_id="t1")

    def add(self, kind: str, **payload: Any) -> None:
        self._at += timedelta(seconds=1)
        at = self._at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record = {"timestamp": at, "ordinal": len(self.records), "type": kind, "payload": payload}
        self.records.append(record)

    def item(self, kind: str, **item: Any) -> None:
        self.add("event_msg", type="item_completed", item={"type": kind, **item})

    def prompt(self, text: str) -> None:
        content = [{"type": "input_text", "text": text}]
        self.add("response_item", type="message", role="user", content=content)
        if self.items:
            self.item("UserMessage", id="u", content=[{"type": "text", "text": text}])
        else:
            self.add("event_msg", type="user_message", message=text)

    def said(self, text: str) -> None:
        if self.items:
            self.item("AgentMessage", id="m", content=[{"type": "Text", "text": text}])
        else:
            self.add("event_msg", type="agent_message", message=text)
        content = [{"type": "output_text", "text": text}]
        self.add("response_item", type="message", role="assistant", content=content)

    def call(self, call_id: str, name: str, arguments: Mapping[str, Any]) -> None:
        text = json.dumps(arguments)
        self.add("response_item", type="function_call", name=name, arguments=text, call_id=call_id)

    def output(self, call_id: str, output: Any, kind: str = "function_call_output") -> None:
        self.add("response_item", type=kind, call_id=call_id, output=output)

    def ran(self, call_id: str, command: str, text: str, code: int = 0) -> None:
        """Add a command and what it brought, as its own item and as the model is shown it."""
        self.call(call_id, "exec_command", {"cmd": command})
        if self.items:
            self.executed(call_id, command, text, code)
        head = f"Chunk ID: {call_id[-3:]}\nWall time: 0.5000 seconds\n"
        self.output(call_id, f"{head}Process exited with code {code}\nOutput:\n{text}")

    def executed(self, item_id: str, command: str, text: str, code: int = 0) -> None:
        self.item(
            "CommandExecution",
            id=item_id,
            command=["/bin/bash", "-lc", command],
            status="failed" if code else "completed",
            aggregated_output=text,
            exit_code=code,
            duration={"secs": 0, "nanos": 500_000_000},
        )

    def complete(self, error: Any = None) -> None:
        self.add("event_msg", type="task_complete", turn_id="t1", error=error)

    def write(self, folder: Path) -> Path:
        """Write the rollout where Codex would, and return its path."""
        day = folder / "sessions" / "2026" / "11" / "29"
        day.mkdir(parents=True, exist_ok=True)
        path = day / f"rollout-2026-11-29T12-00-00-{self.thread}.jsonl"
        path.write_bytes(as_bytes(self.records))
        return path

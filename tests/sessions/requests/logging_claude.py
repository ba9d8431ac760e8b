"""A writer of transcripts of Claude Code that log their requests, as the newest releases do."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

from tests.sessions.transcripts import Claude

BLOCK = (
    "<system-reminder>\nCodebase and user instructions are shown below. Be sure to adhere.\n\n"
    "Contents of /home/dev/shop/CLAUDE.md (project instructions, checked into the codebase):\n\n"
    "- Be brief.\n</system-reminder>"
)
SHAPE: dict[str, Any] = {
    "system": [{"type": "text", "text": "You work."}],
    "tools": [{"name": "Bash", "description": "Runs.", "input_schema": {"type": "object"}}],
}
PARAMS: dict[str, Any] = {
    "model": "claude-sonnet-5-5",
    "betas": ["one", "two"],
    "max_tokens": 128_000,
}


def name_of(message: dict[str, Any]) -> str:
    words = json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(words.encode()).hexdigest()


class LoggingClaude(Claude):
    """Writes the requests beside the turns, and knows what was really sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[list[dict[str, Any]]] = []
        self._requests = 0

    def asks(self, messages: list[dict[str, Any]], blobs: int = 0) -> str:
        """Log a request with messages, the last few of which stand in the log themselves."""
        before = self.sent[-1] if self.sent else []
        keep = len(before)
        assert messages[:keep] == before
        if not before:
            shape_hash = name_of(SHAPE)
            self.plain(type="api-request-shape", shapeHash=shape_hash, shape=SHAPE)
        for message in messages[keep : keep + blobs]:
            self.plain(type="api-request-blob", hash=name_of(message), message=message)
        own = f"request-{self._requests}"
        base = {"base": f"request-{self._requests - 1}"} if before else {}
        self._requests += 1
        self.plain(
            type="api-request",
            id=own,
            shapeHash=name_of(SHAPE),
            params=PARAMS,
            keep=keep,
            tail=[name_of(message) for message in messages[keep:]],
            cacheControl=[
                {"path": ["system", 0], "value": {"type": "ephemeral"}},
                {"path": ["messages", len(messages) - 1, "content", 0], "value": {"type": "e"}},
            ],
            **base,
        )
        self.sent.append(copy.deepcopy(messages))
        return own


def story() -> LoggingClaude:
    """Return a session: it reads, edits, and runs two commands at once, one of which fails."""
    claude = LoggingClaude()
    claude.prompt("Fix add.")
    first = [
        {"type": "text", "text": BLOCK},
        {"type": "text", "text": "Fix add."},
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": first}]
    ref = claude.asks(messages, blobs=1)
    claude.next_message()
    claude.said("I look.", requestRef=ref)
    claude.call("t1", "Read", {"file_path": "/home/dev/shop/calc.py"}, requestRef=ref)
    claude.result("t1", "return a - b")
    messages = [*messages, *_step("I look.", ["Read"], ["t1"], [claude])]
    ref = claude.asks(messages)
    claude.next_message()
    claude.call("t2", "Bash", {"command": "pytest -q"}, requestRef=ref)
    claude.call("t3", "Bash", {"command": "git status"}, requestRef=ref)
    claude.result("t2", "Exit code 1\n1 failed", failed=True)
    claude.result("t3", "clean")
    messages = [*messages, *_step(None, ["Bash", "Bash"], ["t2", "t3"], [claude])]
    ref = claude.asks(messages)
    claude.next_message()
    claude.said("Done! All tests pass.", requestRef=ref)
    return claude


def _step(
    said: str | None, names: list[str], ids: list[str], claude: list[LoggingClaude]
) -> list[dict[str, Any]]:
    """Return a step as two messages: what the API is sent of its records."""
    records = claude[0].records
    uses = [
        block
        for record in records
        if record["type"] == "assistant"
        for block in record["message"]["content"]
        if block.get("id") in ids
    ]
    results = [
        block
        for record in records
        if record["type"] == "user" and isinstance(record["message"]["content"], list)
        for block in record["message"]["content"]
        if block.get("tool_use_id") in ids
    ]
    assert [use["name"] for use in uses] == names
    text = [] if said is None else [{"type": "text", "text": said}]
    return [
        {"role": "assistant", "content": [*text, *uses]},
        {"role": "user", "content": results},
    ]

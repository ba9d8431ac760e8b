"""Earlier turns of a conversation as the sessions that Claude Code and Codex keep and go on with.

Both then send them to the model as turns, word by word; no other way of theirs takes an
assistant's turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final
from uuid import UUID

from fairtrial.model.call import Message
from fairtrial.model.json import Json

SESSION: Final = "01a00000-0000-7000-8000-000000000001"
CODEX_FILE: Final = f"sessions/2026/01/01/rollout-2026-01-01T00-00-00-{SESSION}.jsonl"
WHEN: Final = "2026-01-01T00:00:00.000Z"


def claude_session(turns: Sequence[Message], work: Path, model: str) -> str:
    """Return the transcript of a session of Claude Code.

    Args:
        turns: What was said.
        work: The folder it ran in.
        model: The model that answered.
    """
    return lines(_claude_records(turns, work, model))


def codex_session(turns: Sequence[Message], work: Path, system: str) -> str:
    """Return the rollout of a thread of Codex.

    Args:
        turns: What was said.
        work: The folder it ran in.
        system: Its instructions.
    """
    return codex_thread([_codex_item(turn) for turn in turns], work, system)


def codex_thread(items: Iterable[Json], work: Path, system: str) -> str:
    """Return the rollout of a thread of Codex.

    Args:
        items: What was said, as items of the Responses API.
        work: The folder it ran in.
        system: Its instructions.
    """
    return lines(_codex_records(items, work, system))


def lines(records: Iterable[Json]) -> str:
    """Return records as the lines of a file."""
    return "".join(json.dumps(record) + "\n" for record in records)


def _claude_records(turns: Sequence[Message], work: Path, model: str) -> Iterator[Json]:
    parent = None
    for number, turn in enumerate(turns, start=1):
        uuid = str(UUID(int=number))
        message: dict[str, Json] = {"role": turn.role, "content": turn.text}
        if turn.role == "assistant":
            message = {
                "id": f"msg_{number}",
                "type": "message",
                "role": turn.role,
                "model": model,
                "content": [{"type": "text", "text": turn.text}],
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 0, "output_tokens": 0},
            }
        yield {
            "type": turn.role,
            "uuid": uuid,
            "parentUuid": parent,
            "isSidechain": False,
            "sessionId": SESSION,
            "timestamp": WHEN,
            "cwd": str(work),
            "userType": "external",
            "message": message,
        }
        parent = uuid


def _codex_records(items: Iterable[Json], work: Path, system: str) -> Iterator[Json]:
    meta: Json = {
        "id": SESSION,
        "timestamp": WHEN,
        "cwd": str(work),
        "originator": "codex_exec",
        "cli_version": "0.0.0",
        "source": "exec",
        "history_mode": "legacy",
        "base_instructions": {"text": system},
    }
    yield {"timestamp": WHEN, "type": "session_meta", "payload": meta}
    for item in items:
        yield {"timestamp": WHEN, "type": "response_item", "payload": item}


def _codex_item(turn: Message) -> Json:
    kind = "input_text" if turn.role == "user" else "output_text"
    content: Json = [{"type": kind, "text": turn.text}]
    return {"type": "message", "role": turn.role, "content": content}

"""Generated transcripts of Claude Code: the records of a session that edits and tests."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WORDS = tuple(
    "return value index table parser option error result module import test assert field query "  # noqa: SIM905
    "session number string buffer window record reader writer column filter branch commit "
    "model".split()
)


def write_transcripts(folder: Path, files: int, size: int) -> int:
    """Write so many transcripts of about so many bytes each; return the bytes of all."""
    total = 0
    for number in range(files):
        draw = random.Random(number)  # noqa: S311  # the same bytes each time
        session = str(uuid.UUID(int=draw.getrandbits(128), version=4))
        project = folder / "projects" / f"-home-dev-project-{number % 20}"
        project.mkdir(parents=True, exist_ok=True)
        path = project / f"{session}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            written = 0
            for record in records(draw, session, number):
                written += file.write(json.dumps(record, separators=(",", ":")) + "\n")
                if written >= size:
                    break
        total += path.stat().st_size
    return total


def records(draw: random.Random, session: str, number: int) -> Iterator[dict[str, Any]]:
    """Yield the records of one session, without an end."""
    at = START + timedelta(hours=3 * number)
    parent: str | None = None
    cwd = f"/home/dev/project-{number % 20}"

    def enveloped(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        nonlocal at, parent
        at += timedelta(seconds=draw.uniform(0.2, 4))
        own = str(uuid.UUID(int=draw.getrandbits(128), version=4))
        led = {"parentUuid": parent, "isSidechain": False}
        parent = own
        return {
            **led,
            **(fields if kind == "attachment" else {}),
            "type": kind,
            **({} if kind == "attachment" else fields),
            "uuid": own,
            "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": cwd,
            "sessionId": session,
            "version": "2.1.332",
            "gitBranch": "main",
        }

    yield {"type": "mode", "mode": "normal", "sessionId": session}
    for turn in range(1_000_000):
        asked = f"Fix the {words(draw, 12)}."
        told = {"promptSource": "typed", "origin": {"kind": "human"}}
        yield enveloped("user", {**told, "message": {"role": "user", "content": asked}})
        for kind in ("environment", "skill_listing"):
            found = {"type": kind, "content": words(draw, 150)}
            yield enveloped("attachment", {"attachment": found})
        for step in range(draw.randint(3, 8)):
            message = f"msg_{session[:8]}{turn:04}{step:03}"
            yield from answered(draw, enveloped, message, turn * 100 + step)
            blob = {"role": "user", "content": words(draw, 200)}
            yield {"type": "api-request-blob", "sessionId": session, "message": blob}
        said = {"type": "text", "text": f"I changed the {words(draw, 30)}."}
        yield enveloped("assistant", reply(f"msg_{session[:8]}{turn:04}end", said, draw))


def answered(
    draw: random.Random, enveloped: Any, message: str, number: int
) -> Iterator[dict[str, Any]]:
    """Yield a call of a tool in its three records, and its result."""
    call = f"toolu_{message}"
    kind = draw.choice(("Bash", "Bash", "Read", "Edit"))
    path = f"/home/dev/project/src/module_{number % 7}.py"
    yield enveloped(
        "assistant", reply(message, {"type": "thinking", "thinking": words(draw, 60)}, draw)
    )
    yield enveloped("assistant", reply(message, {"type": "text", "text": words(draw, 20)}, draw))
    given: dict[str, Any] = {"file_path": path}
    if kind == "Bash":
        given = {"command": f"python -m pytest -q tests/test_{number}.py", "description": "Test"}
    elif kind == "Edit":
        given |= {"old_string": words(draw, 30), "new_string": words(draw, 30)}
    use = {"type": "tool_use", "id": call, "name": kind, "input": given}
    yield enveloped("assistant", reply(message, use, draw))
    text = "\n".join(words(draw, 12) for _ in range(draw.randint(4, 60)))
    failed = kind == "Bash" and draw.random() < 0.2
    block = {"tool_use_id": call, "type": "tool_result", "content": text, "is_error": failed}
    told: Any = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
    if failed:
        block["content"] = told = f"Exit code 1\n{text}"
    elif kind == "Edit":
        lines = [f" {words(draw, 8)}", f"-{given['old_string']}", f"+{given['new_string']}"]
        hunk = {"oldStart": 3, "oldLines": 2, "newStart": 3, "newLines": 2, "lines": lines}
        told = {**given, "filePath": path, "originalFile": text, "structuredPatch": [hunk]}
    elif kind == "Read":
        told = {"type": "text", "file": {"filePath": path, "content": text, "numLines": 40}}
    content = {"message": {"role": "user", "content": [block]}, "toolUseResult": told}
    yield enveloped("user", content)


def reply(message: str, block: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """Return the fields of a record of the model's answer."""
    usage = {
        "input_tokens": draw.randint(3, 400),
        "cache_creation_input_tokens": 1_200,
        "cache_read_input_tokens": 30_000,
        "output_tokens": 180,
        "service_tier": "standard",
    }
    usage["input_tokens"] = len(message) * 7  # the same in all records of a message
    return {
        "message": {
            "id": message,
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-5-5",
            "content": [block],
            "stop_reason": None,
            "usage": usage,
        },
        "requestId": f"req_{message}",
    }


def words(draw: random.Random, count: int) -> str:
    """Return so many words."""
    return " ".join(draw.choices(WORDS, k=count))

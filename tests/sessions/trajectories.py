"""A small writer of trajectories (ATIF), and of the folder of a Harbor job."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.sessions.transcripts import SESSION

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


class Trajectory:
    """Writes a trajectory, step by step."""

    def __init__(self, session: str | None = SESSION, agent: str = "terminus-2") -> None:
        self.agent: dict[str, Any] = {"name": agent, "version": "2.0", "model_name": "gpt-5.5"}
        self.root: dict[str, Any] = {"schema_version": "ATIF-v1.7", "agent": self.agent}
        if session is not None:
            self.root["session_id"] = session
        self.steps: list[Any] = []

    def step(self, source: str, message: Any, **fields: Any) -> Trajectory:
        number = len(self.steps) + 1
        at = (START + timedelta(seconds=number)).isoformat().replace("+00:00", "Z")
        own = {"step_id": number, "timestamp": at, "source": source, "message": message}
        self.steps.append({**own, **fields})
        return self

    def prompt(self, text: str, **fields: Any) -> Trajectory:
        return self.step("user", text, **fields)

    def said(self, text: str, *calls: Mapping[str, Any], **fields: Any) -> Trajectory:
        """Add a step of the agent."""
        metrics = {"prompt_tokens": 1_100, "completion_tokens": 50, "cached_tokens": 1_000}
        told = {"metrics": {**metrics, "cost_usd": 0.5}}
        if calls:
            told["tool_calls"] = list(calls)  # type: ignore[assignment]
        return self.step("agent", text, **{**told, **fields})

    def ran(self, command: str, output: str, text: str = "", **fields: Any) -> Trajectory:
        """Add a step that runs a command, and what it brought."""
        name = f"call_{len(self.steps)}"
        given = call(name, "bash", command=command)
        return self.said(text, given, observation=observed((name, output)), **fields)

    def document(self) -> dict[str, Any]:
        return {**self.root, "steps": self.steps}

    def write(self, folder: Path, name: str = "trajectory.json") -> Path:
        """Write it into a trial of a job."""
        path = folder / "jobs" / "2026-11-29__12-00-00" / "fix-add__abc" / "agent" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.document(), indent=2))
        return path


def call(name: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_call_id": name, "function_name": tool, "arguments": arguments}


def observed(*results: tuple[str | None, Any]) -> dict[str, Any]:
    """Return an observation: of each result the call and the content."""
    return {
        "results": [
            {"content": content} if name is None else {"source_call_id": name, "content": content}
            for name, content in results
        ]
    }

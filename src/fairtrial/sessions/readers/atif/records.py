"""From a trajectory to its records: what it says of itself, and its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from fairtrial.model.json import Json
from fairtrial.sessions.tolerant import Records

_STEPS: Final = "steps"
_WITHIN: Final = "subagent_trajectories"
_DEEPEST: Final = 10


class Trajectory(msgspec.Struct):
    """What a trajectory says of itself, without its steps."""

    session_id: str | None = None
    trajectory_id: str | None = None
    agent: Any = None
    final_metrics: Any = None
    extra: Any = None


class Step(msgspec.Struct):
    """One step."""

    step_id: Any = None
    timestamp: Any = None
    source: str = ""
    model_name: str | None = None
    message: Any = None
    reasoning_content: str | None = None
    tool_calls: Any = None
    observation: Any = None
    metrics: Any = None
    is_copied_context: bool | None = None
    llm_call_count: int | None = None
    extra: Any = None


class Record(msgspec.Struct):
    """A trajectory or a step of one.

    Attributes:
        trajectory: What it says of itself.
        step: A step.
        thread: Id of the subagent that it is of; None in the main thread.
        metered: Whether any step tells its tokens.
    """

    trajectory: Trajectory | None = None
    step: Step | None = None
    thread: str | None = None
    metered: bool = False


RECORDS: Final = Records(Record)


def split(document: Mapping[str, Json]) -> Iterator[Json]:
    """Yield the records of a trajectory, those of subagents in it after its own."""
    yield from _split(document, None, 0)


def _split(document: Mapping[str, Json], thread: str | None, depth: int) -> Iterator[Json]:
    told = document.get(_STEPS)
    steps = told if isinstance(told, list) else []
    own = {name: value for name, value in document.items() if name not in (_STEPS, _WITHIN)}
    metered = any(isinstance(step, dict) and step.get("metrics") for step in steps)
    yield {"trajectory": own, "thread": thread, "metered": metered}
    for step in steps:
        yield {"step": step, "thread": thread} if isinstance(step, dict) else step
    within = document.get(_WITHIN)
    for place, inner in enumerate(within if isinstance(within, list) else (), 1):
        if isinstance(inner, dict) and depth < _DEEPEST:
            name = inner.get("trajectory_id") or inner.get("session_id") or place
            yield from _split(inner, f"{thread}.{name}" if thread else str(name), depth + 1)

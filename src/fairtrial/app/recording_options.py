"""Options of verbs that record the model calls of trials, or serve recorded ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Recording:
    """What is done with the task's model calls."""

    record: bool = option(default=False)
    """Record the task's model calls (Anthropic and OpenAI): its programs and prompts make them
    through a proxy in this process, which their ANTHROPIC_BASE_URL and OPENAI_BASE_URL name; a
    later run can --replay them"""
    replay: str | None = option(None, metavar="EXPERIMENT[:ARM]")
    """Serve the model calls that this experiment recorded again, to each trial its own, up to its
    first changed call; later ones are made. Adds the recorded task as arm `control`, unless
    --no-control"""
    replay_until: Annotated[int, Meta(ge=0)] | None = option(None, metavar="N")
    """With --replay: serve calls 1 to N of a trial only; later ones are made"""
    control: bool = option(default=True)
    """Beside a continuation task, or one with --replay, run the recorded configuration as arm
    `control`: it shows how much two replays differ by themselves. --no-control runs the one task
    alone, and marks the result"""

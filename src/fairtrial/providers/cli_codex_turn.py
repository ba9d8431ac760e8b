"""A request of the Responses API as a thread that Codex goes on with for one turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from fairtrial.model.call import ModelReply
from fairtrial.model.errors import ProviderError
from fairtrial.model.json import Json
from fairtrial.ports import Prices, ProcessResult
from fairtrial.providers import cli_one_turn
from fairtrial.providers.cli_codex_events import (
    read_events,
    refuse_run_tools,
    told_tokens,
)
from fairtrial.providers.cli_printed import printed_events
from fairtrial.providers.cli_sessions import codex_thread
from fairtrial.wire.openai_responses import read_body

CONTINUE: Final = "Continue from where you left off."
"""What Codex is told where the request ends with the result of a tool: it takes no turn unasked."""
WRAPPER: Final = Path(cli_one_turn.__file__)
_OF_CODEX: Final = ("additional_tools",)
_INSTRUCTING: Final = ("developer", "system")


@dataclass(frozen=True, slots=True)
class Thread:
    """What a request is made into.

    Attributes:
        instructions: What stands above the conversation; None when the request has nothing there.
        items: The conversation so far.
        prompt: The user's words that it goes on with.
    """

    instructions: str | None
    items: tuple[Json, ...]
    prompt: str

    def rollout(self, work: Path, instructions: str) -> str:
        """Return the file of the thread.

        Args:
            work: The folder it ran in.
            instructions: What is given as its instructions.
        """
        return codex_thread(self.items, work, instructions)


def thread_of(body: Mapping[str, Json]) -> Thread:
    """Return what the body of a request is made into.

    Codex writes its tools, and its instructions as the first message of a developer, into the
    conversation by itself; they are taken out of it here.

    Raises:
        ProviderError: the body has no items, or they do not end where a model's turn begins.
    """
    given = body.get("input")
    if isinstance(given, str):
        given = [{"type": "message", "role": "user", "content": given}]
    items = [item for item in given if isinstance(item, Mapping)] if isinstance(given, list) else []
    items = [_typed(item) for item in items if item.get("type") not in _OF_CODEX]
    instructions = body.get("instructions")
    if not instructions and items and items[0].get("role") in _INSTRUCTING:
        instructions = "\n\n".join(_texts(items[0]))
        items = items[1:]
    last = next((item for item in reversed(items) if item.get("role") not in _INSTRUCTING), None)
    if last is None or not (last.get("role") == "user" or str(last["type"]).endswith("_output")):
        raise ProviderError(
            "codex needs a user's message or the output of a tool at the end of the request's input"
        )
    items, prompt = _without_prompt(items)
    text = instructions if isinstance(instructions, str) and instructions.strip() else None
    return Thread(text, tuple(items), prompt)


def effort_of(body: Mapping[str, Json]) -> str | None:
    """Return how hard a request has the model think; None when it does not say."""
    reasoning = body.get("reasoning")
    effort = reasoning.get("effort") if isinstance(reasoning, Mapping) else None
    return effort if isinstance(effort, str) and effort else None


def read_turn(ended: ProcessResult, model: str, prices: Prices | None) -> ModelReply:
    """Return the turn that the model took.

    Args:
        ended: The process.
        model: The model that was asked.
        prices: What models cost; Codex does not say.

    Raises:
        InfraError: the world failed.
        ProviderError: the call was refused, or a tool was run.
    """
    told = [
        event for event in printed_events(ended.stdout) if event.get("type") == cli_one_turn.TYPE
    ]
    items = told[-1].get("items") if told else None
    if not items:
        return read_events(ended, model, prices)
    turn = read_body({"output": items, "status": "completed", "model": model})
    if not turn.tool_uses:
        return replace(read_events(ended, model, prices), text=turn.text, stop=turn.stop)
    refuse_run_tools(ended)
    usage = told[-1].get("usage")
    tokens = told_tokens(usage if isinstance(usage, Mapping) else {})
    cost = None if prices is None else prices.cost_usd(model, tokens)
    return replace(turn, tokens=tokens, cost_usd=cost)


def _without_prompt(items: Sequence[Mapping[str, Json]]) -> tuple[list[Json], str]:
    """Take the last words of the user from the items: they are given as a prompt."""
    *before, last = items
    content = last.get("content")
    parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
    if last.get("role") != "user" or not isinstance(parts, list) or not parts:
        return [*items], CONTINUE
    *others, final = parts
    text = final.get("text") if isinstance(final, Mapping) else None
    if not isinstance(text, str) or not text.strip():
        return [*items], CONTINUE
    rest: list[Json] = [{**last, "content": others}] if others else []
    return [*before, *rest], text


def _typed(item: Mapping[str, Json]) -> dict[str, Json]:
    """Return an item as Codex keeps it: a message says that it is one, and has parts."""
    if item.get("type", "message") != "message":
        return dict(item)
    content = item.get("content")
    if isinstance(content, str):
        kind = "output_text" if item.get("role") == "assistant" else "input_text"
        content = [{"type": kind, "text": content}]
    return {**item, "type": "message", "content": content}


def _texts(item: Mapping[str, Json]) -> list[str]:
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    return [str(part["text"]) for part in parts if isinstance(part, Mapping) and part.get("text")]

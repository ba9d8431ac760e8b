"""What `codex exec --json` printed: events, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from fairtrial.model.call import ModelReply, StopReason
from fairtrial.model.errors import InfraError, ProviderError
from fairtrial.model.task import Tokens
from fairtrial.ports import Prices, ProcessResult
from fairtrial.providers.cli_printed import printed_events
from fairtrial.providers.cli_trouble import part_of, trouble, whole_characters

KIND: Final = "codex"
_TOOLS: Final = frozenset(
    {"command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"}
)


def read_events(ended: ProcessResult, model: str, prices: Prices | None) -> ModelReply:
    """Return the answer: the last message before the turn was done.

    Args:
        ended: The process.
        model: The model that was asked.
        prices: What models cost; Codex does not say.

    Raises:
        InfraError: the world failed.
        ProviderError: the call was refused.
    """
    answer, failure, usage = "", None, None
    refuse_run_tools(ended)
    for event in printed_events(ended.stdout):
        kind, item = event.get("type"), event.get("item")
        item = item if isinstance(item, Mapping) else {}
        if kind == "item.completed" and item.get("type") == "agent_message":
            answer = whole_characters(str(item.get("text") or ""))
        elif kind == "turn.completed":
            usage = event.get("usage")
        elif kind == "turn.failed":
            error = event.get("error")
            failure = str(error.get("message")) if isinstance(error, Mapping) else str(error)
        elif kind == "error" and failure is None:
            # Also told of tries that are made again: it counts only when no turn was done.
            failure = str(event.get("message"))
    if usage is None:
        raise _problem(ended, failure)
    tokens = told_tokens(usage if isinstance(usage, Mapping) else {})
    cost = None if prices is None else prices.cost_usd(model, tokens)
    return ModelReply(answer, model, StopReason.END, tokens, cost)


def refuse_run_tools(ended: ProcessResult) -> None:
    """Refuse what a tool had a part in.

    Raises:
        ProviderError: one was used.
    """
    for event in printed_events(ended.stdout):
        item = event.get("item")
        if isinstance(item, Mapping) and item.get("type") in _TOOLS:
            raise ProviderError(f"{KIND} used a tool, which it was told not to: {item['type']}")


def _problem(ended: ProcessResult, failure: str | None) -> InfraError | ProviderError:
    usage = ended.usage
    if failure is not None:
        return trouble(KIND, api_message(failure))
    if usage.signal is not None or usage.exit_status in (130, 137, 143):
        ending = f"signal {usage.signal}" if usage.signal else f"exit status {usage.exit_status}"
        return InfraError(f"{KIND} was ended from outside ({ending})", kind="setup")
    words = usage.stderr_tail.strip()
    return trouble(KIND, words or f"no answer, exit status {usage.exit_status}")


def api_message(words: str) -> str:
    """Return the message of an API's error that Codex hands on as it came."""
    try:
        body = json.loads(words)
        return str(body["error"]["message"])
    except (ValueError, TypeError, KeyError):
        return words


def told_tokens(usage: Mapping[str, Any]) -> Tokens:
    """Return the tokens of the thread: a new one, so those of this call."""
    read, cached = _count(usage, "input_tokens"), _count(usage, "cached_input_tokens")
    written = _count(usage, "cache_write_input_tokens")
    new = None if read is None else max(0, read - (cached or 0) - (written or 0))
    output = _count(usage, "output_tokens")
    return Tokens(
        input=new,
        output=output,
        cache_read=cached,
        cache_write=written,
        reasoning=part_of(output, _count(usage, "reasoning_output_tokens")),
    )


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

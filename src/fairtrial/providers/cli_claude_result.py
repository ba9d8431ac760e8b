"""What `claude -p --output-format json` printed: one line, whatever its exit status says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from fairtrial.model.call import ModelReply, StopReason
from fairtrial.model.errors import InfraError, ProviderError
from fairtrial.model.task import Tokens
from fairtrial.model.wording import excerpt
from fairtrial.ports import Prices, ProcessResult
from fairtrial.providers.cli_trouble import part_of, trouble, whole_characters

KIND: Final = "claude-code"
_TOO_LONG_ANSWER: Final = "output token maximum"


def read_result(ended: ProcessResult, model: str, prices: Prices | None) -> ModelReply:
    """Return the answer.

    Args:
        ended: The process.
        model: The model that was asked.
        prices: What models cost, where the CLI does not say.

    Raises:
        InfraError: the world failed.
        ProviderError: the call was refused.
    """
    result = printed_result(ended)
    if result is None:
        raise _without_result(ended)
    stop = _stop(result)
    tokens = told_tokens(result)
    if stop in (StopReason.REFUSAL, StopReason.LENGTH) or not result.get("is_error"):
        if not result.get("is_error") and result.get("num_turns") == 0:
            raise ProviderError(f"{KIND} asked no model: {excerpt(_words(result))}")
        text = "" if result.get("is_error") else _text(result)
        return ModelReply(
            text, _model(result, model), stop, tokens, told_cost(result, tokens, prices)
        )
    raise _problem(result)


def printed_result(ended: ProcessResult) -> Mapping[str, Any] | None:
    """Return the last result that was printed: work that ends late prints another one."""
    for line in reversed(ended.stdout.split(b"\n")):
        if line.startswith(b"{"):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict) and value.get("type") == "result":
                return value
    return None


def _without_result(ended: ProcessResult) -> InfraError | ProviderError:
    usage = ended.usage
    if usage.signal is not None or usage.exit_status in (130, 137, 143):
        ending = f"signal {usage.signal}" if usage.signal else f"exit status {usage.exit_status}"
        return InfraError(f"{KIND} was ended from outside ({ending})", kind="setup")
    words = usage.stderr_tail.strip() or ended.stdout.decode("utf-8", "replace").strip()
    return trouble(KIND, words or f"no answer, exit status {usage.exit_status}")


def _problem(result: Mapping[str, Any]) -> InfraError | ProviderError:
    words, reason = _words(result), result.get("terminal_reason")
    if is_out_of_turns(result):
        return ProviderError(f"{KIND}: the model asked for a tool, or missed the schema each time")
    if reason == "prompt_too_long":
        return ProviderError(f"{KIND}: {excerpt(words)}")
    if str(reason).startswith("aborted"):
        return InfraError(f"{KIND} was ended from outside ({reason})", kind="setup")
    status = result.get("api_error_status")
    if result.get("api_error") == "usage_limit_reached":
        return InfraError(f"{KIND}: {excerpt(words)}", kind="quota")
    return trouble(KIND, words, status if isinstance(status, int) else None)


def is_out_of_turns(result: Mapping[str, Any]) -> bool:
    """Return whether it ended because the model wanted more turns than it might take."""
    return (
        result.get("terminal_reason") == "max_turns" or result.get("subtype") == "error_max_turns"
    )


def _words(result: Mapping[str, Any]) -> str:
    errors = result.get("errors")
    listed = "; ".join(str(error) for error in errors) if isinstance(errors, list) else ""
    return str(result.get("result") or listed or result.get("subtype") or "no reason given")


def _text(result: Mapping[str, Any]) -> str:
    structured = result.get("structured_output")
    if structured is not None:
        return whole_characters(json.dumps(structured, ensure_ascii=False))
    return whole_characters(str(result.get("result") or ""))


def _stop(result: Mapping[str, Any]) -> StopReason:
    if result.get("stop_reason") == "refusal":
        return StopReason.REFUSAL
    cut = result.get("is_error") and _TOO_LONG_ANSWER in _words(result)
    return StopReason.LENGTH if cut or result.get("stop_reason") == "max_tokens" else StopReason.END


def told_tokens(result: Mapping[str, Any]) -> Tokens:
    """Return the tokens of all requests; `usage` may be the last one's alone."""
    used = [entry for entry in _by_model(result).values() if isinstance(entry, Mapping)]

    def total(name: str) -> int | None:
        counts = [_count(entry.get(name)) for entry in used]
        known = [count for count in counts if count is not None]
        return sum(known) if known else None

    output, thought = total("outputTokens"), total("thinkingTokens")
    return Tokens(
        input=total("inputTokens"),
        output=output,
        cache_read=total("cacheReadInputTokens"),
        cache_write=total("cacheCreationInputTokens"),
        reasoning=part_of(output, thought),
    )


def _by_model(result: Mapping[str, Any]) -> Mapping[str, Any]:
    used = result.get("modelUsage")
    return used if isinstance(used, Mapping) else {}


def _model(result: Mapping[str, Any], asked: str) -> str:
    used = _by_model(result)
    return asked if asked in used or not used else str(next(iter(used)))


def told_cost(result: Mapping[str, Any], tokens: Tokens, prices: Prices | None) -> float | None:
    """Return what the API would have charged; the CLI guesses when it does not know the price."""
    used = _by_model(result)
    bases = {e.get("costBasis", "list") for e in used.values() if isinstance(e, Mapping)}
    cost = result.get("total_cost_usd")
    if bases == {"list"} and isinstance(cost, int | float) and not isinstance(cost, bool):
        return float(cost)
    return None if prices is None else prices.cost_usd(next(iter(used), ""), tokens)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

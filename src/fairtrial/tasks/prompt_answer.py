"""From a model's reply to what the trial keeps of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import asdict
from typing import Any, Literal, TypeAlias

from fairtrial.model.call import ModelReply, StopReason
from fairtrial.model.errors import ProviderError, TaskError, TrialTimeout
from fairtrial.model.json import Json
from fairtrial.model.task import Reused, TaskResult
from fairtrial.model.wording import excerpt, over_limit
from fairtrial.schema.json_text import parse_json
from fairtrial.schema.validating import CannotValidateError, first_problem

Form: TypeAlias = Literal["text", "json", "message"]


async def answered(asked: Awaitable[ModelReply], limit_s: float | None) -> ModelReply:
    """Return what a model answers within a trial's time limit.

    Raises:
        TaskError: the provider refused the call.
        TrialTimeout: the model took too long.
        InfraError: the world failed.
    """
    scope = asyncio.timeout(limit_s)
    try:
        async with scope:
            return await asked
    except TimeoutError:
        if not scope.expired():
            raise
        raise TrialTimeout(over_limit(limit_s)) from None
    except ProviderError as error:
        raise TaskError(str(error)) from error


def result_of(reply: ModelReply, form: Form, validator: Any, max_tokens: int) -> TaskResult:
    """Return what a reply brought.

    An answer that was cut, and a refusal, are outputs like any other: graders judge what a user
    would have got. Where JSON was asked for, they fail like any other answer that is none.

    Args:
        reply: The reply.
        form: What the output is to be.
        validator: Checks JSON; None takes any.
        max_tokens: How long it might be, for the message.
    """
    output: Json = reply.text
    error: str | None = None
    if form == "message":
        output = _message(reply)
    elif form == "json":
        output, error = _json(reply, validator, max_tokens)
    cached = reply.cached
    return TaskResult(
        output=output,
        error=error,
        cost_usd=None if cached else reply.cost_usd,
        tokens=None if cached else reply.tokens,
        metrics={} if reply.first_token_s is None else {"first_token_s": reply.first_token_s},
        spans=(_span(reply, max_tokens),),
        note=_note(reply, max_tokens),
        reused=Reused("cache", 1, reply.tokens, reply.cost_usd) if cached else None,
    )


def _message(reply: ModelReply) -> Json:
    return {
        "text": reply.text,
        "tool_uses": [asdict(use) for use in reply.tool_uses],
        "stop": reply.stop.value,
    }


def _json(reply: ModelReply, validator: Any, max_tokens: int) -> tuple[Json, str | None]:
    """Return the value of an answer; the text and what is wrong with it when there is none."""
    why = _ENDINGS.get(reply.stop, "").format(max_tokens)
    try:
        value = parse_json(reply.text)
        problem = None if validator is None else first_problem(validator, value)
    except RecursionError:
        return reply.text, "the answer's JSON is nested too deeply to be read"
    except CannotValidateError as error:
        return reply.text, str(error)
    except ValueError as error:
        return reply.text, f"the answer is no JSON{why} ({error}): {excerpt(reply.text)}"
    if problem is not None:
        return reply.text, f"the answer is off the schema{why}: {problem}: {excerpt(reply.text)}"
    return value, None


_ENDINGS = {
    StopReason.LENGTH: ", since it was cut at {} tokens",
    StopReason.REFUSAL: ", since the model refused",
    StopReason.TOOL_USE: ", since the model asks for a tool",
}


def _span(reply: ModelReply, max_tokens: int) -> dict[str, Json]:
    span: dict[str, Json] = {"name": "model call", "model": reply.model, "stop": reply.stop.value}
    note = _note(reply, max_tokens)
    if note is not None:
        span["note"] = note
    if reply.cached:
        span["cached"] = True
    return span


def _note(reply: ModelReply, max_tokens: int) -> str | None:
    if reply.stop is StopReason.LENGTH:
        return f"the answer was cut at {max_tokens} tokens; a larger 'max_tokens' lets it end"
    if reply.stop is StopReason.REFUSAL:
        return "the model, or a filter before it, refused to answer"
    return None

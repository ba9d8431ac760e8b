"""The envelope: what a task is told beside the input, and what it can tell beside the output."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from fairtrial.model.errors import InfraError, TaskError
from fairtrial.model.json import Json
from fairtrial.model.task import TaskCall, TaskResult, Tokens
from fairtrial.model.wording import excerpt
from fairtrial.schema.decoding import unknown_name

# Far more than anybody spends, and so little that the sum of a million trials is a number.
_Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
_Amount = Annotated[float, msgspec.Meta(ge=0, le=1e12)]


class _Tokens(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    input: _Count | None = None
    output: _Count | None = None
    cache_read: _Count | None = None
    cache_write: _Count | None = None
    reasoning: _Count | None = None


class _Answer(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    output: Any = msgspec.UNSET
    cost_usd: _Amount | None = None
    tokens: _Tokens | None = None
    metrics: dict[str, float] | None = None
    spans: tuple[dict[str, Any], ...] | None = None
    error: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    infra: Literal["rate_limit", "server", "network", "setup", "login", "quota"] | None = None
    retry_after_s: _Amount | None = None


_ANSWERS = msgspec.json.Decoder(_Answer)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*?)`( - at `(.*)`)?")


def json_bytes(value: Json) -> bytes:
    """Return a JSON value as one line of UTF-8, without its line end."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8, but JSON can escape it.
        return json.dumps(value).encode("ascii")


def request_envelope(call: TaskCall) -> dict[str, Json]:
    """Return what a task is told about a call; `expected` is never in it."""
    case = call.case
    return {
        "input": case.input,
        "case_id": case.id,
        "condition": case.condition,
        "arm": call.arm,
        "trial": call.trial,
        "attempt": call.attempt,
        "seed": call.seed,
        "time_limit_s": call.time_limit_s,
        "metadata": dict(case.metadata),
        "attempts": [
            {"output": earlier.output, "feedback": earlier.feedback} for earlier in call.earlier
        ],
    }


def read_envelope(data: bytes | str, source: str) -> TaskResult:
    """Return what an envelope tells.

    Args:
        data: One JSON object.
        source: What it was read from, for the message.

    Raises:
        TaskError: it is not JSON, or does not fit the schema.
        InfraError: it says that the world around the task failed.
    """
    try:
        answer = _ANSWERS.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TaskError(
            f"bad envelope on {source}: {_sentence(error)}; it begins: {excerpt(data)}"
        ) from None
    if answer.infra is not None:
        reason = answer.error or f"the task met a problem of kind {answer.infra}"
        raise InfraError(reason, kind=answer.infra, retry_after=answer.retry_after_s)
    if answer.output is msgspec.UNSET and answer.error is None:
        raise TaskError(
            f"bad envelope on {source}: it has neither 'output' nor 'error'; "
            f"it begins: {excerpt(data)}"
        )
    return _result(answer)


def result_told(told: Mapping[str, Json], source: str) -> TaskResult:
    """Return what an object with the keys of an envelope tells.

    Raises:
        TaskError: it does not fit the schema.
    """
    try:
        return _result(msgspec.convert(told, _Answer))
    except msgspec.ValidationError as error:
        raise TaskError(f"bad {source}: {_sentence(error)}") from None


def _result(answer: _Answer) -> TaskResult:
    tokens = answer.tokens
    return TaskResult(
        output=None if answer.output is msgspec.UNSET else answer.output,
        error=answer.error,
        cost_usd=answer.cost_usd,
        tokens=None if tokens is None else Tokens(**msgspec.structs.asdict(tokens)),
        metrics=answer.metrics or {},
        spans=answer.spans or (),
    )


def _sentence(error: Exception) -> str:
    match = _UNKNOWN.fullmatch(str(error))
    if match is None:
        return str(error).replace("`", "'")
    known = _Tokens.__struct_fields__ if match[3] == "$.tokens" else _Answer.__struct_fields__
    return unknown_name(match[1], known) + (f" in '{match[3]}'" if match[3] else "")

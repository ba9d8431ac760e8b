"""From one sample of a log of Inspect AI to a trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fairtrial.interchange.results.amounts import (
    amount,
    cause_of,
    count,
    list_of,
    moment,
    number,
    object_of,
    tokens_of,
    truth,
)
from fairtrial.interchange.results.contract import FoundScore, FoundTrial, Notes, Trouble
from fairtrial.interchange.results.messages import plain, spans_of, text_of
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens

_LETTERS: Final = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partial and no answer, as Inspect AI counts them."""
_CORRECT: Final = 1.0
_ATTACHED: Final = "attachment://"
_USAGE: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "input_tokens_cache_read",
    "cache_write": "input_tokens_cache_write",
    "reasoning": "reasoning_tokens",
}


def trial_of(
    sample: Mapping[str, Json], thresholds: dict[str, float], notes: Notes, where: str
) -> FoundTrial:
    """Return the trial of a sample.

    Args:
        sample: The sample.
        thresholds: Takes the bars of scorers that answer with letters.
        notes: Counts what was not understood.
        where: Where it stands.
    """
    attachments = object_of(sample.get("attachments"))
    given = _attached(sample.get("input"), attachments)
    messages = list_of(_attached(sample.get("messages"), attachments))
    n_given = len(given) if isinstance(given, list) else 1
    return FoundTrial(
        input=_input(given, sample.get("choices")),
        id=str(sample["id"]),
        expected=sample.get("target"),
        metadata=object_of(sample.get("metadata")),
        trial=count(sample.get("epoch")) or None,
        output=_output(object_of(_attached(sample.get("output"), attachments))),
        scores=_scores(object_of(sample.get("scores")), thresholds, notes, where),
        trouble=_trouble(sample),
        started_at=moment(sample.get("started_at")),
        duration_s=amount(sample.get("working_time", sample.get("total_time"))),
        cost_usd=_cost(object_of(sample.get("model_usage"))),
        tokens=_tokens(object_of(sample.get("model_usage"))),
        spans=spans_of(messages) if len(messages) > n_given + 1 else (),
    )


def _input(given: Json, choices: Json) -> Json:
    shown = [plain(message) for message in given] if isinstance(given, list) else given
    return {"input": shown, "choices": choices} if choices else shown


def _output(output: Mapping[str, Json]) -> Json:
    completion = output.get("completion")
    if isinstance(completion, str) and completion:
        return completion
    choices = list_of(output.get("choices"))
    if choices and isinstance(choices[0], dict):
        return text_of(object_of(choices[0].get("message")).get("content"))
    return completion or None


def _scores(
    given: Mapping[str, Json], thresholds: dict[str, float], notes: Notes, where: str
) -> dict[str, FoundScore]:
    found: dict[str, FoundScore] = {}
    for name, one in given.items():
        score = one if isinstance(one, dict) else {"value": one}
        value, words = score.get("value"), score.get("explanation")
        reason = str(words) if words else None
        if isinstance(value, dict):
            for key, part in value.items():
                found[f"{name}.{key}"] = _score(f"{name}.{key}", part, reason, thresholds)
        elif isinstance(value, list):
            notes.add("scores that are lists: taken as missing", where)
            found[name] = FoundScore(None, "the score is a list")
        else:
            found[name] = _score(name, value, reason, thresholds)
    return found


def _score(name: str, value: Json, reason: str | None, thresholds: dict[str, float]) -> FoundScore:
    if isinstance(value, str) and value in _LETTERS:
        # Only what is correct passes; half of it does not.
        thresholds[name] = _CORRECT
        return FoundScore(_LETTERS[value], reason)
    if value is None:
        return FoundScore(None, reason or "the scorer gave no value")
    found = number(value)
    if found is None and (said := truth(value)) is not None:
        found = float(said)
    if found is None:
        return FoundScore(None, f"{str(value)[:100]!r} is no number")
    return FoundScore(found, reason)


def _trouble(sample: Mapping[str, Json]) -> Trouble | None:
    if sample.get("invalidation"):
        why = object_of(sample["invalidation"]).get("reason")
        return Trouble("undecidable", f"invalidated{f': {why}' if why else ''}")
    error = sample.get("error")
    if error:
        message = str(object_of(error).get("message") or error)
        return Trouble(cause_of(message), message)
    limit = sample.get("limit")
    if not limit:
        return None
    told: dict[str, Any] = limit if isinstance(limit, dict) else {"type": limit}
    kind = str(told.get("type"))
    reason = str(told.get("reason") or f"over its limit: {kind} {told.get('limit', '')}".rstrip())
    return Trouble("undecidable" if kind == "operator" else "limit", reason)


def _tokens(usage: Mapping[str, Json]) -> Tokens | None:
    totals: dict[str, int] = {}
    for used in usage.values():
        for part, name in _USAGE.items():
            found = count(object_of(used).get(name))
            if found is not None:
                totals[part] = totals.get(part, 0) + found
    return tokens_of(**totals)


def _cost(usage: Mapping[str, Json]) -> float | None:
    costs = [amount(object_of(used).get("total_cost")) for used in usage.values()]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _attached(value: Json, attachments: Mapping[str, Json]) -> Json:
    """Return a value with what stands apart from it put into its place."""
    if not attachments:
        return value
    if isinstance(value, str) and value.startswith(_ATTACHED):
        return attachments.get(value.removeprefix(_ATTACHED), value)
    if isinstance(value, list):
        return [_attached(one, attachments) for one in value]
    if isinstance(value, dict):
        return {name: _attached(one, attachments) for name, one in value.items()}
    return value

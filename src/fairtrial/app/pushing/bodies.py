"""From a trial as a tool wrote it down to a row as the API takes it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from fairtrial.interchange.results.contract import FoundScore, FoundTrial, Notes
from fairtrial.interchange.results.json_values import whole
from fairtrial.model.json import Json, content_hash
from fairtrial.model.task import Tokens

LONGEST_NAME: Final = 200
LONGEST_GRADER: Final = 100
_LONGEST_TEXT: Final = 10_000
_LARGEST_VALUE: Final = 1e12
_MOST_SPANS: Final = 10_000
_MOST_TAGS: Final = 100
_MARK: Final = 12
"""Digits of a hash that keep two long names apart."""


def short_name(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a name that is short enough; two that differ stay different."""
    text = whole(text)
    if len(text) <= longest:
        return text
    mark = hashlib.sha256(text.encode()).hexdigest()[:_MARK]
    return f"{text[: longest - _MARK - 1]}~{mark}"


def short_text(text: str) -> str:
    """Return a text that is short enough, with a mark where it was cut."""
    text = whole(text)
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


def case_of(found: FoundTrial) -> dict[str, Json]:
    """Return what a row says of its case."""
    case: dict[str, Json] = {
        "id": short_name(found.id) if found.id else _hashed(found.input),
        "input": found.input,
        "expected": found.expected,
        "tags": [short_name(tag) for tag in found.tags if tag][:_MOST_TAGS],
        "split": short_name(found.split) if found.split else None,
        "condition": short_name(found.condition),
        "metadata": dict(found.metadata),
    }
    return {name: value for name, value in case.items() if value not in (None, [], {})} | {
        "input": found.input
    }


def _hashed(case_input: Json) -> str:
    return f"case_{content_hash(case_input)[:16]}"


def trial_of(found: FoundTrial, notes: Notes, where: str) -> dict[str, Json]:
    """Return what a row says of its trial, without its arm, its number and the tool's verdict.

    Args:
        found: The trial.
        notes: Counts what does not fit.
        where: Its case, for them.
    """
    row: dict[str, Json] = {
        "scores": {
            short_name(name, LONGEST_GRADER) or "score": score_body(score, notes, where)
            for name, score in found.scores.items()
        },
        "output": found.output,
        "problem": None
        if found.trouble is None
        else {
            "cause": found.trouble.cause,
            "reason": short_text(found.trouble.reason) or found.trouble.cause,
        },
        "started_at": None if found.started_at is None else _moment(found.started_at),
        "duration_s": _amount(found.duration_s, "durations", notes, where),
        "cost_usd": _amount(found.cost_usd, "costs", notes, where),
        "tokens": None if found.tokens is None else _tokens(found.tokens),
        "metrics": _metrics(found.metrics, notes, where),
        "spans": [dict(span) for span in found.spans[:_MOST_SPANS]],
    }
    if len(found.spans) > _MOST_SPANS:
        notes.add(f"spans beyond the first {_MOST_SPANS:,} of a trial", where)
    return {name: value for name, value in row.items() if value not in (None, [], {})}


def score_body(score: FoundScore, notes: Notes, where: str) -> dict[str, Json]:
    """Return a score as a row has it."""
    value, reason = score.value, score.reason
    if value is not None and not (math.isfinite(value) and abs(value) <= _LARGEST_VALUE):
        notes.add("scores that are not finite, or too large: taken as missing", where)
        value, reason = None, f"the score was {value:g}"
    body: dict[str, Json] = {"value": value}
    if reason:
        body["reason"] = short_text(reason)
    return body


def _moment(at: datetime) -> str:
    return at.isoformat()


def _amount(value: float | None, what: str, notes: Notes, where: str) -> float | None:
    if value is None or (0 <= value <= _LARGEST_VALUE):
        return value
    notes.add(f"{what} that cannot be: taken as unknown", where)
    return None


def _tokens(tokens: Tokens) -> dict[str, Json]:
    told: Mapping[str, Any] = msgspec.to_builtins(tokens)
    return {name: value for name, value in told.items() if value is not None}


def _metrics(given: Mapping[str, float], notes: Notes, where: str) -> dict[str, float]:
    found = {
        short_name(name): value
        for name, value in given.items()
        if math.isfinite(value) and abs(value) <= _LARGEST_VALUE
    }
    if len(found) < len(given):
        notes.add("metrics that are not finite, or too large", where)
    return found

"""From one result of promptfoo to a trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from fairtrial.interchange.results.amounts import (
    amount,
    cause_of,
    count,
    list_of,
    number,
    object_of,
    tokens_of,
    word,
)
from fairtrial.interchange.results.contract import FoundScore, FoundTrial, Notes, Trouble
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens

SCORE: Final = "score"
_ERROR: Final = 2
"""The `failureReason` of what gave no output; 1 is a failed assertion, whose words are in `error`,
too."""
_KEPT: Final = ("type", "value", "threshold", "metric", "weight")
_CACHED: Final = "answers from promptfoo's cache: their time, tokens and cost are unknown"


def trial_of(
    result: Mapping[str, Json], arm: str | None, started: datetime | None, notes: Notes, where: str
) -> FoundTrial:
    """Return the trial of a result.

    Args:
        result: The result.
        arm: Its column.
        started: When the eval began.
        notes: Counts what was not understood.
        where: Where it stands.
    """
    test = object_of(result.get("testCase"))
    response = object_of(result.get("response"))
    graded = object_of(result.get("gradingResult"))
    # What is added while it runs, such as the id of a session, is in `vars` alone.
    given = test.get("vars") if isinstance(test.get("vars"), dict) else result.get("vars")
    metadata = dict(object_of(test.get("metadata")))
    if test.get("description"):
        metadata["description"] = test["description"]
    trouble = _trouble(result, response)
    cached = response.get("cached") is True
    if cached:
        notes.add(_CACHED)
    milliseconds = amount(result.get("latencyMs"))
    success = result.get("success")
    return FoundTrial(
        input=given if given is not None else {},
        id=word(metadata.pop("id", None)),
        expected=[_assertion(one) for one in list_of(test.get("assert"))] or None,
        metadata=metadata,
        arm=arm,
        model=_provider(result),
        output=response.get("output"),
        scores={} if trouble else _scores(result, graded, notes, where),
        passed=success if isinstance(success, bool) and trouble is None else None,
        reason=word(graded.get("reason")),
        trouble=trouble,
        started_at=started,
        duration_s=None if cached or not milliseconds else milliseconds / 1000,
        # It writes 0 where it knows no price.
        cost_usd=None if cached else amount(result.get("cost")) or None,
        tokens=None if cached else _tokens(object_of(response.get("tokenUsage"))),
    )


def _trouble(result: Mapping[str, Json], response: Mapping[str, Json]) -> Trouble | None:
    words = word(result.get("error")) or word(response.get("error"))
    reason = result.get("failureReason")
    graded = result.get("gradingResult")
    if reason == _ERROR or (reason is None and words and graded is None):
        text = words or "it gave no output"
        return Trouble(cause_of(text), text)
    return None


def _provider(result: Mapping[str, Json]) -> str | None:
    provider = result.get("provider")
    return word(object_of(provider).get("id")) or word(provider)


def _assertion(one: Json) -> Json:
    told = object_of(one)
    return {name: told[name] for name in _KEPT if told.get(name) is not None}


def _scores(
    result: Mapping[str, Json], graded: Mapping[str, Json], notes: Notes, where: str
) -> dict[str, FoundScore]:
    found: dict[str, FoundScore] = {}
    seen: Counter[str] = Counter()
    for one in list_of(graded.get("componentResults")):
        told = object_of(one)
        assertion = object_of(told.get("assertion"))
        name = word(assertion.get("metric")) or word(assertion.get("type")) or "assertion"
        seen[name] += 1
        value = number(told.get("score"))
        threshold = number(assertion.get("threshold"))
        if value is not None and threshold is not None:
            passes = value >= threshold
            if isinstance(told.get("pass"), bool) and told["pass"] is not passes:
                notes.add("assertions whose verdict is not that of score and threshold", where)
        called = name if seen[name] == 1 else f"{name} {seen[name]}"
        found[called] = FoundScore(value, word(told.get("reason")))
    for name, value in object_of(result.get("namedScores")).items():
        found.setdefault(name, FoundScore(number(value)))
    found[SCORE] = FoundScore(number(result.get("score")))
    return found


def _tokens(usage: Mapping[str, Json]) -> Tokens | None:
    if not count(usage.get("total")):
        return None
    details = object_of(usage.get("completionDetails"))
    return tokens_of(
        input=usage.get("prompt"),
        output=usage.get("completion"),
        cache_read=details.get("cacheReadInputTokens") or None,
        cache_write=details.get("cacheCreationInputTokens") or None,
        reasoning=details.get("reasoning") or None,
    )

"""What `fairtrial exp export` wrote as jsonl or csv, on another machine."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from fairtrial.interchange.results.amounts import (
    amount,
    count,
    list_of,
    moment,
    number,
    tokens_of,
    word,
)
from fairtrial.interchange.results.contract import Cause, FoundScore, FoundTrial, Trouble
from fairtrial.model.case import DEFAULT_CONDITION
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens

_SIGNS: Final = frozenset({"case_id", "condition", "arm", "trial", "verdict", "cause"})
_CAUSES: Final[Mapping[str, Cause]] = {
    "task": "task",
    "limit": "limit",
    "infra": "infra",
    "grader": "grader",
    "undecidable": "undecidable",
    "internal": "undecidable",
}
_PREFIX: Final = "score."


def is_own(names: AbstractSet[str]) -> bool:
    """Return whether keys are those of such a file."""
    return names >= _SIGNS


def trial_of(row: Mapping[str, Json]) -> FoundTrial:
    """Return the trial of a row. An export has no input, so the id stands for it."""
    case_id = str(row["case_id"])
    verdict, cause = row["verdict"], _CAUSES.get(str(row["cause"] or ""))
    scores = _scores(row)
    # A grader that gave no value is told by the missing value alone.
    blamed = cause is not None and not (cause == "grader" and scores)
    reason = None if row.get("reason") in (None, "") else str(row["reason"])
    return FoundTrial(
        input=case_id,
        id=case_id,
        condition=str(row["condition"] or DEFAULT_CONDITION),
        arm=str(row["arm"]),
        trial=count(row["trial"]) or None,
        output=row.get("output"),
        scores=scores,
        passed={"passed": True, "failed": False}.get(str(verdict)),
        reason=reason,
        trouble=Trouble(cause, reason or str(cause)) if blamed and cause else None,
        started_at=moment(row.get("started_at")),
        duration_s=amount(row.get("duration_s")),
        cost_usd=amount(row.get("cost_usd")),
        tokens=_tokens(row),
        metrics=_metrics(row.get("metrics")),
        spans=[one for one in list_of(row.get("spans")) if isinstance(one, dict)],
        stands_in=True,
    )


def _scores(row: Mapping[str, Json]) -> dict[str, FoundScore]:
    named = {
        name.removeprefix(_PREFIX): FoundScore(number(value))
        for name, value in row.items()
        if name.startswith(_PREFIX)
    }
    for one in list_of(row.get("scores")):
        if isinstance(one, dict) and isinstance(one.get("grader"), str):
            named[one["grader"]] = FoundScore(number(one.get("value")), word(one.get("reason")))
    return named


def _tokens(row: Mapping[str, Json]) -> Tokens | None:
    given = row.get("tokens")
    if isinstance(given, dict):
        parts = ("input", "output", "cache_read", "cache_write", "reasoning")
        return tokens_of(**{part: given.get(part) for part in parts})
    return tokens_of(input=row.get("tokens_input"), output=row.get("tokens_output"))


def _metrics(given: Json) -> dict[str, float]:
    if not isinstance(given, dict):
        return {}
    return {name: value for name, one in given.items() if (value := number(one)) is not None}

"""From a plain row, a line of JSONL or of a table, to a trial."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from fairtrial.interchange.results import own_export
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
    word,
)
from fairtrial.interchange.results.contract import (
    Asked,
    Cause,
    FoundRun,
    FoundScore,
    FoundTrial,
    Notes,
    Trouble,
)
from fairtrial.interchange.results.roles import Roles
from fairtrial.model.case import DEFAULT_CONDITION
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens

SCORE: Final = "score"
"""What a score without a name is called."""
_CAUSES: Final[Mapping[str, Cause]] = {
    cause: cause for cause in ("task", "limit", "infra", "undecidable", "grader")
}
_TOKENS: Final = {
    "input": ("input", "input_tokens", "prompt_tokens", "prompt"),
    "output": ("output", "output_tokens", "completion_tokens", "completion"),
    "cache_read": ("cache_read", "cache_read_input_tokens", "cached_tokens"),
    "cache_write": ("cache_write", "cache_creation_input_tokens"),
    "reasoning": ("reasoning", "reasoning_tokens"),
}
NO_INPUT: Final = "rows without an input: the id stands for it"


class RowTaker:
    """Makes trials of the rows of one file."""

    def __init__(self, roles: Roles, notes: Notes) -> None:
        self._roles = roles
        self._notes = notes

    def take(self, row: Mapping[str, Json], where: str) -> FoundTrial | None:
        """Return the trial that a row tells of; None when it tells of none."""
        told: dict[str, Any] = {}
        parts: dict[str, dict[str, Json]] = {"scores.": {}, "metrics.": {}, "metadata.": {}}
        for name, value in row.items():
            role = self._roles.of(name)
            if role is None:
                self._notes.add(f"the key {name[:60]!r}", where)
            elif role[0] in parts:
                parts[role[0]][role[1]] = value
            elif told.get(role[0]) is None:
                told[role[0]] = value
        case_id = _id(told.get("id"))
        if "input" not in told:
            if case_id is None:
                self._notes.add("rows with neither input nor id", where, lost=True)
                return None
            self._notes.add(NO_INPUT, where)
        scores = self._scores(told, parts["scores."], where)
        return FoundTrial(
            input=told.get("input", case_id),
            id=case_id,
            expected=told.get("expected"),
            metadata={**object_of(told.get("metadata")), **parts["metadata."]},
            tags=_tags(told.get("tags")),
            split=word(told.get("split")),
            condition=word(told.get("condition")) or DEFAULT_CONDITION,
            arm=word(told.get("arm")),
            model=word(told.get("model")),
            trial=count(told.get("trial")) or None,
            output=told.get("output"),
            scores=scores,
            passed=self._passed(told, where),
            reason=word(told.get("reason")),
            trouble=_trouble(told.get("error")),
            started_at=moment(told.get("started_at")),
            duration_s=_duration(told),
            cost_usd=amount(told.get("cost_usd")),
            tokens=_tokens(told),
            metrics=self._metrics({**object_of(told.get("metrics")), **parts["metrics."]}, where),
            spans=[one for one in list_of(told.get("spans")) if isinstance(one, dict)],
            stands_in="input" not in told,
        )

    def _passed(self, told: Mapping[str, Json], where: str) -> bool | None:
        given = told.get("passed")
        if given in (None, ""):
            return None
        found = truth(given)
        if found is None:
            self._notes.add("verdicts that say neither yes nor no", where)
        return found

    def _scores(
        self, told: Mapping[str, Json], named: Mapping[str, Json], where: str
    ) -> dict[str, FoundScore]:
        given: dict[str, Json] = {}
        many = told.get("scores")
        if isinstance(many, dict):
            given |= many
        elif isinstance(many, list):
            given |= {name: one for one in many if (name := _grader(one)) is not None}
        elif many is not None:
            given[SCORE] = many
        given |= named
        alone = told.get("score")
        if isinstance(alone, dict):
            given = {**alone, **given}
        elif alone is not None:
            given.setdefault(SCORE, alone)
        return {name: self._score(value, where) for name, value in given.items()}

    def _score(self, given: Json, where: str) -> FoundScore:
        reason, value = None, given
        if isinstance(given, dict):
            value = given.get("value", given.get("score"))
            reason = word(given.get("reason", given.get("explanation")))
        if value is None or value == "":
            return FoundScore(None, reason)
        found = number(value)
        if found is None and (said := truth(value)) is not None:
            found = float(said)
        if found is None:
            self._notes.add("scores that are no number: taken as missing", where)
            return FoundScore(None, f"{str(value)[:100]!r} is no number")
        return FoundScore(found, reason)

    def _metrics(self, given: Mapping[str, Json], where: str) -> dict[str, float]:
        found = {name: value for name, one in given.items() if (value := number(one)) is not None}
        if len(found) < len(given):
            self._notes.add("metrics that are no number", where, n=len(given) - len(found))
        return found


class PlainRows(ABC):
    """The plain rows of a file. See `Reading`."""

    def __init__(self, path: Path, asked: Asked, notes: Notes) -> None:
        self._path = path
        self._notes = notes
        self._roles = Roles(asked.columns)
        self._take = RowTaker(self._roles, notes)

    @abstractmethod
    def _rows(self) -> Iterator[tuple[str, dict[str, Json]]]:
        """Yield each row, and where it stands."""

    def trials(self) -> Iterator[FoundTrial]:
        """See `Reading.trials`."""
        for where, row in self._rows():
            if own_export.is_own(set(row)):
                yield own_export.trial_of(row)
            elif (found := self._take.take(row, where)) is not None:
                yield found

    def run(self) -> FoundRun:
        """See `Reading.run`."""
        return FoundRun()


def _id(value: Json) -> str | None:
    if isinstance(value, bool) or value in (None, ""):
        return None
    return str(value) if isinstance(value, int | float | str) else None


def _tags(value: Json) -> list[str]:
    if isinstance(value, str):
        return [part.strip() for part in value.replace(";", ",").split(",") if part.strip()]
    return [str(tag) for tag in list_of(value) if isinstance(tag, str | int | float)]


def _grader(one: Json) -> str | None:
    """Return the name of a score in a list of scores."""
    if not isinstance(one, dict):
        return None
    return next((one[key] for key in ("grader", "name") if isinstance(one.get(key), str)), None)


def _trouble(value: Json) -> Trouble | None:
    if not value or truth(value) is False:
        return None
    if isinstance(value, dict):
        words = value.get("reason", value.get("message", value.get("error")))
        reason = str(words if words is not None else value)
        cause = _CAUSES.get(str(value.get("cause")))
        return Trouble(cause or cause_of(f"{value.get('type', '')} {reason}"), reason)
    return Trouble(cause_of(str(value)), str(value))


def _duration(told: Mapping[str, Json]) -> float | None:
    seconds = amount(told.get("duration_s"))
    if seconds is not None:
        return seconds
    milliseconds = amount(told.get("duration_ms"))
    return None if milliseconds is None else milliseconds / 1000


def _tokens(told: Mapping[str, Json]) -> Tokens | None:
    given = object_of(told.get("tokens"))
    counts = {
        part: next((given[name] for name in names if given.get(name) is not None), None)
        for part, names in _TOKENS.items()
    }
    for part in ("input", "output"):
        if counts[part] is None:
            counts[part] = told.get(f"tokens_{part}")
    return tokens_of(**counts)

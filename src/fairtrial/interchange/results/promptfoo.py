"""Results of promptfoo: `-o results.json`, an export of an eval, or `-o results.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec

from fairtrial.interchange.results.amounts import count, moment, object_of, word
from fairtrial.interchange.results.contract import Asked, FoundRun, FoundTrial, Notes, Probe
from fairtrial.interchange.results.files import document, lines
from fairtrial.interchange.results.json_values import Unreadable, value_of
from fairtrial.interchange.results.promptfoo_results import trial_of
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json

TOOL: Final = "promptfoo"
_LINE: Final = frozenset({"promptIdx", "testIdx", "testCase"})
_LONGEST_LABEL: Final = 60
_Column = tuple[str, str]
"""Provider and prompt."""


class _Results(msgspec.Struct):
    results: list[msgspec.Raw]
    prompts: msgspec.Raw = msgspec.Raw(b"null")
    timestamp: Any = None


class _Eval(msgspec.Struct):
    results: _Results
    evalId: str | None = None  # noqa: N815  # as promptfoo has it
    config: msgspec.Raw = msgspec.Raw(b"null")


def recognises(probe: Probe, _: Asked) -> bool:
    """Return whether it is such a file."""
    keys = probe.keys.keys()
    return keys >= _LINE or ({"results", "config"} <= keys and not keys & {"eval", "plan"})


class PromptfooRows:
    """The results of a file. See `Reading`."""

    def __init__(self, path: Path, notes: Notes) -> None:
        self._path = path
        self._notes = notes
        self._run = FoundRun()

    def trials(self) -> Iterator[FoundTrial]:
        """See `Reading.trials`."""
        found = None
        if self._is_document():
            found = document(self._path, _Eval, self._notes)
            self._run = self._told(found)
        started = None if found is None else moment(found.results.timestamp)
        arms = self._arms(found)
        self._run = replace(self._run, arms=tuple(arms.values()))
        for where, result in self._results(found):
            yield trial_of(result, arms.get(_column(result)), started, self._notes, where)

    def run(self) -> FoundRun:
        """See `Reading.run`."""
        return self._run

    def _is_document(self) -> bool:
        with self._path.open("rb") as file:
            line = file.readline(1 << 20)
        try:
            first = value_of(line, Notes())
        except Unreadable:
            return True
        return not (isinstance(first, dict) and first.keys() >= _LINE)

    def _results(self, found: _Eval | None) -> Iterator[tuple[str, dict[str, Json]]]:
        texts: Iterator[tuple[str, bytes | msgspec.Raw]]
        if found is None:
            texts = ((f"line {number}", line) for number, line in lines(self._path, self._notes))
        else:
            items = enumerate(found.results.results, 1)
            texts = ((f"result {number}", item) for number, item in items)
        for where, text in texts:
            try:
                value = value_of(text, self._notes, where)
            except Unreadable:
                value = None
            if isinstance(value, dict):
                yield where, value
            else:
                self._notes.add("results that cannot be read", where, lost=True)

    def _arms(self, found: _Eval | None) -> dict[_Column, str]:
        """Return the name of each column; none where there is one only."""
        places: dict[_Column, int] = {}
        for _, result in self._quietly(found):
            places.setdefault(_column(result), count(result.get("promptIdx")) or 0)
        # Results stand in the order in which they came; columns in the order of the config.
        columns = sorted(places, key=places.__getitem__)
        providers = {provider for provider, _ in columns}
        prompts = {prompt for _, prompt in columns}
        if len(columns) < 2:
            return {}
        names: dict[_Column, str] = {}
        for provider, prompt in columns:
            parts = [provider] if len(providers) > 1 else []
            parts += [_short(prompt)] if len(prompts) > 1 else []
            name = ", ".join(parts)
            if name in names.values():
                name = f"{name} #{len(names) + 1}"
            names[provider, prompt] = name
        return names

    def _quietly(self, found: _Eval | None) -> Iterator[tuple[str, dict[str, Json]]]:
        """Yield all results without counting what is wrong with them: it is counted later."""
        notes, self._notes = self._notes, Notes()
        try:
            yield from self._results(found)
        finally:
            self._notes = notes

    def _told(self, found: _Eval) -> FoundRun:
        try:
            config = object_of(value_of(found.config, self._notes))
        except Unreadable as problem:
            raise UsageError(
                "the file cannot be read", where=str(self._path), why=str(problem)
            ) from None
        facts: dict[str, Json] = {"eval_id": found.evalId, "tags": config.get("tags")}
        return FoundRun(
            name=word(config.get("description")),
            facts={name: value for name, value in facts.items() if value},
        )


def _column(result: Mapping[str, Json]) -> _Column:
    provider = result.get("provider")
    told = provider if isinstance(provider, dict) else {"id": provider}
    prompt = object_of(result.get("prompt"))
    label = word(prompt.get("label")) or word(prompt.get("raw")) or ""
    return str(told.get("label") or told.get("id") or "provider"), label


def _short(prompt: str) -> str:
    text = " ".join(prompt.split())
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def read(path: Path, _: Asked, notes: Notes) -> PromptfooRows:
    """Return the results of a file."""
    return PromptfooRows(path, notes)

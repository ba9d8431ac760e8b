"""OpenAI Evals: output items of the platform's runs, and logs of `oaieval`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from fairtrial.interchange.results.amounts import (
    cause_of,
    count,
    list_of,
    moment,
    number,
    object_of,
    tokens_of,
    word,
)
from fairtrial.interchange.results.contract import (
    Asked,
    FoundRun,
    FoundScore,
    FoundTrial,
    Notes,
    Probe,
    Reading,
    Trouble,
)
from fairtrial.interchange.results.files import content, document, head_of, lines
from fairtrial.interchange.results.json_values import Unreadable, value_of
from fairtrial.interchange.results.messages import plain, text_of
from fairtrial.interchange.results.oaieval_log import OaiEvalLog, is_log
from fairtrial.model.json import Json

TOOL: Final = "openai-evals"
_ITEM: Final = "eval.run.output_item"
_LISTS: Final = ("output_items", "data")
_SUFFIX: Final = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
"""What the platform puts after the name of a grader."""


def recognises(probe: Probe, _: Asked) -> bool:
    """Return whether it is such a file."""
    keys = probe.keys
    if is_log(keys) or keys.get("object") == _ITEM:
        return True
    if "datasource_item" in keys and "results" in keys:
        return True
    return any(name in keys for name in _LISTS) and _ITEM in probe.head


class OutputItems:
    """Output items of one run, or of several runs of one eval. See `Reading`."""

    def __init__(self, path: Path, notes: Notes) -> None:
        self._path = path
        self._notes = notes
        self._runs: dict[str, None] = {}
        self._eval: str | None = None

    def trials(self) -> Iterator[FoundTrial]:
        """See `Reading.trials`."""
        runs = {run for run in map(_run, self._items(Notes())) if run}
        for item in self._items(self._notes):
            run = _run(item)
            self._eval = word(item.get("eval_id")) or self._eval
            yield _trial(item, run if len(runs) > 1 else None)
            if run:
                self._runs.setdefault(run)

    def run(self) -> FoundRun:
        """See `Reading.run`."""
        alone = next(iter(self._runs)) if len(self._runs) == 1 else None
        facts: dict[str, Json] = {"eval_id": self._eval, "run_id": alone}
        return FoundRun(
            dataset=self._eval,
            facts={name: value for name, value in facts.items() if value},
        )

    def _items(self, notes: Notes) -> Iterator[dict[str, Json]]:
        for where, text in self._texts(notes):
            try:
                value = value_of(text, notes, where)
            except Unreadable:
                value = None
            if isinstance(value, dict) and "datasource_item" in value:
                yield value
            else:
                notes.add("items that cannot be read", where, lost=True)

    def _texts(self, notes: Notes) -> Iterator[tuple[str, bytes | msgspec.Raw]]:
        start = head_of(self._path, 4096).lstrip()
        if start[:1] == b"[":
            items = document(self._path, list[msgspec.Raw], notes)
        elif self._is_list():
            members = document(self._path, dict[str, msgspec.Raw], notes)
            name = next(name for name in _LISTS if name in members)
            items = msgspec.json.decode(members[name], type=list[msgspec.Raw])
        else:
            yield from ((f"line {number}", line) for number, line in lines(self._path, notes))
            return
        yield from ((f"item {number}", item) for number, item in enumerate(items, 1))

    def _is_list(self) -> bool:
        try:
            members = msgspec.json.decode(content(self._path), type=dict[str, msgspec.Raw])
        except (msgspec.MsgspecError, UnicodeError):
            return False  # one object a line is no document
        return any(name in members and bytes(members[name])[:1] == b"[" for name in _LISTS)


def _run(item: Mapping[str, Json]) -> str | None:
    return word(item.get("run_id"))


def _trial(item: Mapping[str, Json], arm: str | None) -> FoundTrial:
    source = object_of(item.get("datasource_item"))
    given = source.get("item") if isinstance(source.get("item"), dict) else source
    sample = object_of(item.get("sample"))
    status = word(item.get("status"))
    results = [object_of(one) for one in list_of(item.get("results"))]
    trouble = _trouble(sample, status)
    usage = object_of(sample.get("usage"))
    failed = next((one for one in results if one.get("passed") is False), None)
    return FoundTrial(
        input=given,
        # `datasource_item_id` is its place in the source, which another item may have next time.
        id=word(object_of(given).get("id")),
        arm=arm,
        model=word(sample.get("model")),
        output=_output(sample),
        scores={} if trouble else dict(map(_score, results)),
        passed={"pass": True, "fail": False}.get(status or "") if trouble is None else None,
        reason=None if failed is None else f"{_name(failed)} did not pass",
        trouble=trouble,
        started_at=moment(item.get("created_at")),
        tokens=tokens_of(
            input=_without_cached(usage),
            output=usage.get("completion_tokens"),
            cache_read=usage.get("cached_tokens"),
        ),
    )


def _trouble(sample: Mapping[str, Json], status: str | None) -> Trouble | None:
    error = object_of(sample.get("error"))
    words = " ".join(str(error[key]) for key in ("code", "message") if error.get(key))
    if words:
        return Trouble(cause_of(words), words)
    if status in ("error", "errored"):
        return Trouble("grader", "the item has the status error")
    return None


def _output(sample: Mapping[str, Json]) -> Json:
    messages = list_of(sample.get("output"))
    if len(messages) == 1 and isinstance(messages[0], dict):
        return text_of(messages[0].get("content"))
    return [plain(message) for message in messages] or None


def _name(result: Mapping[str, Json]) -> str:
    return _SUFFIX.sub("", word(result.get("name")) or "grader") or "grader"


def _score(result: Mapping[str, Json]) -> tuple[str, FoundScore]:
    value = number(result.get("score"))
    if value is None and isinstance(result.get("passed"), bool):
        value = float(result["passed"])
    return _name(result), FoundScore(value)


def _without_cached(usage: Mapping[str, Json]) -> int | None:
    total, cached = count(usage.get("prompt_tokens")), count(usage.get("cached_tokens")) or 0
    return None if total is None else max(total - cached, 0)


def read(path: Path, _: Asked, notes: Notes) -> Reading:
    """Return the results of a file."""
    first = next(iter(lines(path, Notes())), (0, b""))[1]
    try:
        value = value_of(first, Notes())
    except Unreadable:
        value = None
    if isinstance(value, dict) and is_log(value):
        return OaiEvalLog(path, notes)
    return OutputItems(path, notes)

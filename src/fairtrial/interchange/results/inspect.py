"""Logs of Inspect AI: `.eval` archives and `.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from fairtrial.interchange.results.amounts import object_of, word
from fairtrial.interchange.results.archive import Archive, MemberError, archive_at
from fairtrial.interchange.results.contract import (
    Asked,
    Ending,
    FoundRun,
    FoundTrial,
    Notes,
    Probe,
)
from fairtrial.interchange.results.files import document
from fairtrial.interchange.results.inspect_samples import trial_of
from fairtrial.interchange.results.json_values import Unreadable, value_of
from fairtrial.model.errors import FairtrialError, UsageError
from fairtrial.model.json import Json

TOOL: Final = "inspect"
_HEADER: Final = "header.json"
_START: Final = "_journal/start.json"
_SAMPLES: Final = "samples/"
_ENDINGS: Final[Mapping[str, Ending]] = {
    "success": "finished",
    "error": "stopped",
    "cancelled": "interrupted",
    "started": "interrupted",
}
_KEYS: Final = frozenset({"eval", "status", "plan"})


class _Log(msgspec.Struct):
    """A log as one document; samples are decoded one by one."""

    status: Any = None
    eval: msgspec.Raw = msgspec.Raw(b"{}")
    results: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw = msgspec.Raw(b"null")
    samples: list[msgspec.Raw] | None = None


def recognises(probe: Probe, _: Asked) -> bool:
    """Return whether it is a log."""
    if probe.is_folder:
        return False
    if probe.head.startswith("PK"):
        try:
            with archive_at(probe.path) as archive:
                return not {_HEADER, _START}.isdisjoint(archive.names())
        except FairtrialError:
            # An archive that was cut off has no directory; its name tells what it was.
            return probe.path.suffix == ".eval"
    return probe.keys.keys() >= _KEYS and "evalId" not in probe.keys


class _Reading:
    """What is known of a run once its header was read."""

    def __init__(self, path: Path, notes: Notes) -> None:
        self._path = path
        self._notes = notes
        self._header: dict[str, Json] = {}
        self._thresholds: dict[str, float] = {}
        self._read = 0

    def _sample(self, data: bytes | msgspec.Raw, where: str) -> FoundTrial | None:
        try:
            sample = value_of(data, self._notes, where)
        except Unreadable:
            sample = None
        if not isinstance(sample, dict) or "id" not in sample:
            self._notes.add("samples that cannot be read", where, lost=True)
            return None
        self._read += 1
        return trial_of(sample, self._thresholds, self._notes, where)

    def run(self) -> FoundRun:
        """See `Reading.run`."""
        told = object_of(self._header.get("eval"))
        status = str(self._header.get("status"))
        ending = _ENDINGS.get(status, "interrupted")
        planned = object_of(self._header.get("results")).get("total_samples")
        if isinstance(planned, int) and planned > self._read + self._notes.lost:
            missing = planned - self._read - self._notes.lost
            self._notes.add("samples that are not in the log", lost=True, n=missing)
        name = (word(told.get("task")) or "").rpartition("/")[2] or None
        dataset = object_of(told.get("dataset")).get("name")
        revision = object_of(told.get("revision"))
        return FoundRun(
            name=name,
            dataset=word(dataset) or name,
            target=word(told.get("solver")) or word(told.get("task_file")),
            version=word(told.get("task_version")),
            model=word(told.get("model")),
            commit=word(revision.get("commit")),
            dirty=revision.get("dirty") if isinstance(revision.get("dirty"), bool) else None,
            ending=ending,
            why=_why(status, self._header.get("error")) if ending != "finished" else None,
            thresholds=self._thresholds,
            graders=[] if self._read else _scorers(told),
            facts={
                key: told[key]
                for key in ("run_id", "eval_id", "task_args", "model_generate_config", "tags")
                if told.get(key)
            },
        )


class ArchivedLog(_Reading):
    """A log in an archive. See `Reading`."""

    def trials(self) -> Iterator[FoundTrial]:
        """See `Reading.trials`."""
        with archive_at(self._path) as archive:
            names = archive.names()
            self._header = self._head(archive, names)
            for name in names:
                if not name.startswith(_SAMPLES) or not name.endswith(".json"):
                    continue
                try:
                    data = archive.read(name)
                except MemberError as problem:
                    self._notes.add(
                        "samples that cannot be read", f"{name}: {problem}"[:200], lost=True
                    )
                    continue
                found = self._sample(data, name)
                if found is not None:
                    yield found

    def _head(self, archive: Archive, names: list[str]) -> dict[str, Json]:
        for name in (_HEADER, _START):
            if name not in names:
                continue
            try:
                found = value_of(archive.read(name), self._notes, name)
            except (MemberError, Unreadable) as problem:
                self._notes.add("headers that cannot be read", f"{name}: {problem}"[:200])
                continue
            if isinstance(found, dict):
                return {"status": "started", **found}
        raise UsageError("the log has no header that can be read", where=str(self._path))


class WrittenLog(_Reading):
    """A log as one JSON document. See `Reading`."""

    def trials(self) -> Iterator[FoundTrial]:
        """See `Reading.trials`."""
        log = document(self._path, _Log, self._notes)
        try:
            self._header = {
                "status": log.status,
                "eval": value_of(log.eval, self._notes),
                "results": value_of(log.results, self._notes),
                "error": value_of(log.error, self._notes),
            }
        except Unreadable as problem:
            raise UsageError(
                "the log has no header that can be read", where=str(self._path), why=str(problem)
            ) from None
        for number, sample in enumerate(log.samples or (), 1):
            found = self._sample(sample, f"sample {number}")
            if found is not None:
                yield found


def read(path: Path, _: Asked, notes: Notes) -> ArchivedLog | WrittenLog:
    """Return the results of a log."""
    with path.open("rb") as file:
        archived = file.read(2) == b"PK"
    return ArchivedLog(path, notes) if archived else WrittenLog(path, notes)


def _why(status: str, error: Json) -> str:
    message = object_of(error).get("message")
    words = {"started": "the log was never closed: its process died, or is still at it"}
    return f"{words.get(status, status)}{f': {message}' if message else ''}"


def _scorers(told: Mapping[str, Json]) -> list[str]:
    found = told.get("scorers")
    return [
        str(one["name"])
        for one in (found if isinstance(found, list) else ())
        if isinstance(one, dict) and one.get("name")
    ]

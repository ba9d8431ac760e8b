"""Reports of the SWE-bench harness: a run's summary, or the folder with a report an instance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from fairtrial.interchange.results.amounts import list_of, object_of, word
from fairtrial.interchange.results.contract import (
    Asked,
    FoundRun,
    FoundTrial,
    Notes,
    Probe,
    Trouble,
)
from fairtrial.interchange.results.files import content, document, head_of, lines
from fairtrial.interchange.results.json_values import Unreadable, parts_of, value_of
from fairtrial.model.errors import FairtrialError, UsageError
from fairtrial.model.json import Json

TOOL: Final = "swe-bench"
DATASET: Final = "swe-bench"
_SUMMARY: Final = frozenset({"resolved_ids", "submitted_ids"})
_REPORT: Final = "report.json"
_LOG: Final = "run_instance.log"
_NOT_APPLIED: Final = ">>>>> Patch Apply Failed"
_TIMED_OUT: Final = ">>>>> Tests Timed Out"
_LOOKED_AT: Final = 4 * 1024 * 1024


class _Summary(msgspec.Struct):
    resolved_ids: list[str]
    submitted_ids: list[str]
    unresolved_ids: list[str] = []
    completed_ids: list[str] = []
    empty_patch_ids: list[str] = []
    error_ids: list[str] = []
    incomplete_ids: list[str] = []


def recognises(probe: Probe, _: Asked) -> bool:
    """Return whether it is a summary, or a folder of reports."""
    if not probe.is_folder:
        return probe.keys.keys() >= _SUMMARY
    return any(True for _ in _reports(probe.path))


def _reports(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield instances with their folders."""
    for inner in sorted(folder.iterdir()):
        if inner.is_dir() and not inner.is_symlink() and (inner / _REPORT).is_file():
            try:
                head = head_of(inner / _REPORT, 65_536)
            except FairtrialError:
                continue
            if inner.name.encode() in head and b'"resolved"' in head:
                yield inner.name, inner


class SweBench:
    """The instances of a run. See `Reading`."""

    def __init__(self, path: Path, asked: Asked, notes: Notes) -> None:
        self._path = path
        self._notes = notes
        self._patches, self._model = _patches(path, asked, notes)

    def trials(self) -> Iterator[FoundTrial]:
        """See `Reading.trials`."""
        if self._path.is_dir():
            for instance, folder in _reports(self._path):
                yield self._of_folder(instance, folder)
            return
        yield from self._of_summary(document(self._path, _Summary, self._notes))

    def run(self) -> FoundRun:
        """See `Reading.run`."""
        return FoundRun(dataset=DATASET, model=self._model)

    def _of_summary(self, summary: _Summary) -> Iterator[FoundTrial]:
        resolved, empty = set(summary.resolved_ids), set(summary.empty_patch_ids)
        failed, broken = set(summary.unresolved_ids), set(summary.error_ids)
        known = dict.fromkeys(
            [*summary.submitted_ids, *summary.completed_ids, *sorted(resolved | failed | broken)]
        )
        for instance in known:
            if instance in resolved:
                yield self._trial(instance, passed=True)
            elif instance in empty:
                yield self._trial(instance, passed=False, reason="the patch is empty")
            elif instance in broken:
                words = "the harness could not evaluate the patch"
                yield self._trial(instance, trouble=Trouble("grader", words))
            elif instance in failed:
                yield self._trial(instance, passed=False, reason="not resolved")
            else:
                words = "the summary does not say what became of it"
                yield self._trial(instance, trouble=Trouble("grader", words))
        without = len(set(summary.incomplete_ids) - known.keys())
        if without:
            self._notes.add("instances without a prediction: they are no trials", n=without)

    def _of_folder(self, instance: str, folder: Path) -> FoundTrial:
        try:
            told = value_of(bytes(content(folder / _REPORT)), self._notes, instance)
        except (Unreadable, FairtrialError):
            self._notes.add("reports that cannot be read", instance, lost=True)
            return self._trial(instance, trouble=Trouble("grader", "its report cannot be read"))
        report = object_of(object_of(told).get(instance))
        log = _text(folder / _LOG)
        if report.get("patch_is_None") is True or report.get("patch_exists") is False:
            return self._trial(instance, passed=False, reason="the patch is empty")
        if report.get("patch_successfully_applied") is False or _NOT_APPLIED in log:
            return self._trial(instance, passed=False, reason="the patch does not apply")
        if _TIMED_OUT in log:
            words = "the tests ran over their time limit"
            return self._trial(instance, trouble=Trouble("limit", words))
        resolved = report.get("resolved")
        if not isinstance(resolved, bool):
            words = "its report does not say whether it is resolved"
            return self._trial(instance, trouble=Trouble("grader", words))
        metrics = _tests(object_of(report.get("tests_status")))
        found = self._trial(instance, passed=resolved, reason=None if resolved else "not resolved")
        found.metrics = metrics
        return found

    def _trial(
        self,
        instance: str,
        *,
        passed: bool | None = None,
        reason: str | None = None,
        trouble: Trouble | None = None,
    ) -> FoundTrial:
        return FoundTrial(
            input=instance,
            id=instance,
            output=self._patches.get(instance),
            passed=passed,
            reason=reason,
            trouble=trouble,
            stands_in=True,
        )


def _tests(status: Mapping[str, Json]) -> dict[str, float]:
    """Return how many tests of each kind pass."""
    found: dict[str, float] = {}
    for kind, told in status.items():
        good = len(list_of(object_of(told).get("success")))
        bad = len(list_of(object_of(told).get("failure")))
        if good + bad:
            found[f"{kind.lower()}_passed"] = good
            found[f"{kind.lower()}_failed"] = bad
    return found


def _patches(path: Path, asked: Asked, notes: Notes) -> tuple[dict[str, Json], str | None]:
    """Return patches by instance, and the model that wrote them."""
    file = asked.predictions or _beside(path)
    if file is None:
        return {}, None
    patches: dict[str, Json] = {}
    models: set[str] = set()
    for one in _predictions(file, notes):
        instance = word(one.get("instance_id"))
        if instance is not None:
            patches[instance] = one.get("model_patch")
            models |= {str(one["model_name_or_path"])} if one.get("model_name_or_path") else set()
    if not patches and asked.predictions is not None:
        raise UsageError("no predictions are in it", where=str(file))
    return patches, models.pop() if len(models) == 1 else None


def _beside(path: Path) -> Path | None:
    """Return the predictions in the same folder, when there is one file of them."""
    folder = path if path.is_dir() else path.parent
    files = sorted(folder.glob("*pred*.json*"))
    found = [file for file in files if file.is_file() and file != path]
    return found[0] if len(found) == 1 else None


def _predictions(file: Path, notes: Notes) -> Iterator[Mapping[str, Json]]:
    """Yield predictions: one a line, a list, or an object by instance."""
    try:
        data = content(file)
        if bytes(data[:64]).lstrip()[:1] == b"[":
            found = [value_of(item, notes) for item in parts_of(data, list[msgspec.Raw], notes)]
            yield from (one for one in found if isinstance(one, dict))
            return
        if file.suffix != ".jsonl":
            for instance, item in parts_of(data, dict[str, msgspec.Raw], notes).items():
                yield {"instance_id": instance, **object_of(value_of(item, notes))}
            return
    except Unreadable as problem:
        raise UsageError("predictions cannot be read", where=str(file), why=str(problem)) from None
    for number, line in lines(file, notes):
        try:
            yield object_of(value_of(line, notes))
        except Unreadable:
            notes.add("predictions that are no JSON", f"{file.name}, line {number}")


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(_LOOKED_AT).decode("utf-8", "replace")
    except OSError:
        return ""


def read(path: Path, asked: Asked, notes: Notes) -> SweBench:
    """Return the results of a summary or a folder."""
    return SweBench(path, asked, notes)

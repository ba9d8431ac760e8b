"""`exp ab --watch`: which files of B are looked at, and a run in one line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fairtrial.app.ab_arms import edit_of
from fairtrial.app.bench import Bench
from fairtrial.app.exp_ab import exp_ab
from fairtrial.app.reports.ab import AbReport
from fairtrial.app.requests.exp_ab import Request
from fairtrial.harness.belonging import FOREIGN, part_of
from fairtrial.harness.sources import Place
from fairtrial.model.errors import ExitCode, FairtrialError, UsageError
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class WatchedAb:
    """One run of a watch.

    Attributes:
        number: Which one, from 1.
        report: What came of it; None when it could not begin.
        error: Why it could not; None when it did.
        exit_code: What the command alone would have returned.
    """

    schema: ClassVar[str] = "fairtrial.watched-ab/1"

    number: int
    report: AbReport | None
    error: str | None
    exit_code: ExitCode

    def json(self) -> dict[str, Json]:
        """Return it as one JSON object: counts, and where the whole report is."""
        report = self.report
        return {
            "schema": self.schema,
            "number": self.number,
            "id": None if report is None else report.run.state.experiment.id,
            "behaviors": {} if report is None else dict(_counts(report)),
            "sentence": None if report is None else sentence(report),
            "error": self.error,
            "exit_code": self.exit_code,
        }


def _counts(report: AbReport) -> Mapping[str, Json]:
    return {
        one.behavior: {"fixed": one.fixed, "broken": one.broken, "undecided": one.undecided}
        for one in report.behaviors
    }


def sentence(report: AbReport) -> str:
    """Return what came of an edit, in one line."""
    fixed = sum(one.fixed for one in report.behaviors)
    broken = sum(one.broken for one in report.behaviors)
    cases = sum(one.bad + one.good for one in report.behaviors)
    parts = [f"{fixed:,} fixed, {broken:,} broken of {cases:,}"]
    if report.comparison is not None:
        parts.append(report.comparison.comparison.sentence)
    return ": ".join(parts)


class AbWatch:
    """Tells whether B has changed since it was tried.

    Args:
        request: What was asked.

    Raises:
        UsageError: an option goes with one run only.
    """

    def __init__(self, request: Request) -> None:
        for flag, given in (("--dry-run", request.dry_run), ("--resume", request.resume)):
            if given:
                raise UsageError(f"--watch and {flag} cannot be combined", fix="leave one out")
        self._request = request
        self._seen: str | None = None
        self._runs = 0

    def due(self, bench: Bench) -> bool:
        """Return whether B is another than the one that was tried last, or its trouble is."""
        try:
            now = edit_of(bench, self._request).b.digest
        except FairtrialError as error:
            now = f"trouble: {error}"
        changed, self._seen = now != self._seen, now
        return changed

    def run(self, bench: Bench) -> WatchedAb:
        """Try B as it is now; what could not begin says why."""
        self._runs += 1
        try:
            report = exp_ab(bench, self._request)
        except FairtrialError as error:
            return WatchedAb(self._runs, None, str(error), error.exit_code)
        if not isinstance(report, AbReport):
            raise TypeError(report)
        return WatchedAb(self._runs, report, None, report.exit_code)

    def folders(self, bench: Bench) -> set[Path]:
        """Return the folders in which files of B may change."""
        place = Place(bench.cwd, bench.environ)
        path = _there(bench, self._request.b)
        if path is not None and not path.is_dir():
            return {path.parent}
        base = path or place.root or bench.cwd
        try:
            files = edit_of(bench, self._request).b.files
        except FairtrialError:  # what mends it may be done to any of them
            return _below(base)
        return {base} | {(base / file).parent for file in files if (base / file).parent.is_dir()}


def _there(bench: Bench, given: str | None) -> Path | None:
    """Return what stands at a path that was given; None for what is no path, or not there."""
    if not given:
        return None
    try:
        path = bench.path(Path(given))
        return path if path.exists() else None
    except (FairtrialError, OSError, ValueError):
        return None


def _below(folder: Path) -> set[Path]:
    """Return a folder and those below it that hold files of a harness."""
    found = {folder}
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - FOREIGN)
        inside = Path(at).relative_to(folder)
        if any(part_of((inside / name).as_posix()) for name in files):
            found.add(Path(at))
    return found

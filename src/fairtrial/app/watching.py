"""`exp run --watch`: run again what changed, grade again where only graders did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from fairtrial.analysis.run_delta import RunDelta
from fairtrial.app.bench import Bench
from fairtrial.app.exp_regrade import exp_regrade
from fairtrial.app.exp_run import exp_run
from fairtrial.app.logbooks import delta_between
from fairtrial.app.planning import base_dir
from fairtrial.app.reports.experiment import ExperimentReport, judged
from fairtrial.app.reports.facts import rate_json
from fairtrial.app.reports.regrade import RegradeReport
from fairtrial.app.requests.exp_regrade import Request as RegradeRequest
from fairtrial.app.requests.exp_run import Request
from fairtrial.app.watched_files import Content, content_of
from fairtrial.functions.loading import forget_modules
from fairtrial.model.errors import ExitCode, FairtrialError, UsageError
from fairtrial.model.experiment import ExperimentState, Status
from fairtrial.model.json import Json
from fairtrial.stats.proportion import Rate

What = Literal["run", "regrade"]


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """One turn of a watch.

    Attributes:
        number: Which one, from 1.
        what: `run`, or `regrade` where only graders had changed.
        state: The experiment; None when it could not begin.
        rate: The pass rate of its last arm; None without an experiment.
        delta: What changed since the turn before; None without one, and for a regrade.
        flips: For a regrade, how many verdicts flipped; None for a run.
        error: Why it could not begin; None when it did.
        exit_code: What the command alone would have returned.
    """

    schema: ClassVar[str] = "fairtrial.watched/1"

    number: int
    what: What
    state: ExperimentState | None
    rate: Rate | None
    delta: RunDelta | None
    flips: int | None
    error: str | None
    exit_code: ExitCode

    def json(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        state = self.state
        return {
            "schema": self.schema,
            "number": self.number,
            "what": self.what,
            "id": None if state is None else state.experiment.id,
            "name": None if state is None else state.experiment.name,
            "status": None if state is None else state.status.value,
            "pass_rate": None if self.rate is None else rate_json(self.rate),
            "delta": None if self.delta is None else self.delta.content(),
            "n_flips": self.flips,
            "error": self.error,
            "exit_code": self.exit_code,
        }


class Watch:
    """What is due, by the content of what a request names; and the doing of it.

    Args:
        build: Reads the spec and the options anew.
    """

    def __init__(self, build: Callable[[], Request]) -> None:
        self._build = build
        self._content: Content | None = None
        self._problem: str | None = None
        self._request: Request | None = None
        self._last_run: ExperimentState | None = None
        self._last: ExperimentState | None = None
        self._turns = 0
        self._after_a_turn = False
        self._suspects: frozenset[Path] = frozenset()
        self._ignored: frozenset[Path] = frozenset()
        self.notes: list[str] = []
        """What is to be told, oldest first; whoever tells it takes it out."""

    @property
    def content(self) -> Content | None:
        """What was looked at last; None before."""
        return self._content

    @property
    def could_be_mended(self) -> bool:
        """Whether there is a file whose change could make a run of what could not begin."""
        spec = self._request is not None and self._request.spec is not None
        found = self._content
        return spec or (found is not None and bool(found.task_files or found.grader_files))

    def due(self, bench: Bench, *, again: bool = False) -> What | WatchedRun | None:
        """Look at everything anew, and return what is to be done: nothing, a run or a regrade.

        What cannot be read (a spec that is half written, say) is a turn that could not begin, told
        once.

        Args:
            bench: The workbench.
            again: Run, even if nothing changed.
        """
        try:
            request = self._build()
            check_watched(request)
            content = content_of(bench, request)
        except FairtrialError as error:
            told, self._problem = self._problem, str(error)
            return None if told == self._problem and not again else self._failed("run", error)
        was, self._content, self._request = self._content, content, request
        self._problem = None
        if was is not None and self._after_a_turn:
            self._ignore_outputs(content.changed_files(was))
        self._after_a_turn = False
        if again or was is None or content.other_task(was, self._ignored):
            return "run"
        if content.other_graders(was, self._ignored):
            return "run" if self._last_run is None else "regrade"
        return None

    def _ignore_outputs(self, changed: frozenset[Path]) -> None:
        """Ignore files that change during turn after turn: the run itself writes them.

        A change during one turn may be the user's, and the turn after it runs because of that.
        """
        written, self._suspects = (changed & self._suspects) - self._ignored, changed
        for path in sorted(written):
            self.notes.append(f"{path} changes with every run and is not watched any more")
        self._ignored |= written

    def turn(self, bench: Bench, what: What) -> WatchedRun:
        """Do what is due.

        Raises:
            StoreError: the store cannot be read or written.
        """
        request = self._request
        if request is None:
            raise TypeError(request)
        self._after_a_turn = True
        forget_modules((base_dir(bench, request), bench.cwd))
        try:
            if what == "regrade" and self._last_run is not None:
                return self._regraded(bench, request, self._last_run)
            return self._ran(bench, request)
        except FairtrialError as error:
            return self._failed(what, error)

    def _ran(self, bench: Bench, request: Request) -> WatchedRun:
        report = exp_run(bench, request)
        if not isinstance(report, ExperimentReport):
            raise TypeError(report)
        state, before = report.state, self._last
        delta = None
        if state.status is Status.FINISHED:
            self._last_run = state
        # Programs that only crash are no configuration that the next run could be held against.
        if state.status is Status.FINISHED and judged(state):
            delta = None if before is None else delta_between(bench, before, state)
            self._last = state
        return WatchedRun(
            self._next(), "run", state, report.pass_rate, delta, None, None, report.exit_code
        )

    def _regraded(self, bench: Bench, request: Request, origin: ExperimentState) -> WatchedRun:
        asked = RegradeRequest(
            experiment=origin.experiment.id,
            spec=request.spec,
            graders=request.graders,
            replace_graders=True,
            name=request.name,
            concurrency=request.limits.concurrency or 4,
            caching=request.caching,
        )
        report: Any = exp_regrade(bench, asked)
        if not isinstance(report, RegradeReport):
            raise TypeError(report)
        state, rate = report.experiment.state, report.experiment.pass_rate
        if state.status is Status.FINISHED and judged(state):
            self._last = state
        flips = len(report.regrade.flips)
        return WatchedRun(self._next(), "regrade", state, rate, None, flips, None, report.exit_code)

    def _failed(self, what: What, error: FairtrialError) -> WatchedRun:
        self._problem = str(error)
        return WatchedRun(self._next(), what, None, None, None, None, str(error), error.exit_code)

    def _next(self) -> int:
        self._turns += 1
        return self._turns


def check_watched(request: Request) -> None:
    """Refuse options that go with one run only.

    Raises:
        UsageError: there is one.
    """
    given = {
        "--resume": request.resume is not None,
        "--dry-run": request.dry_run,
        "--plan": request.matrix.plan,
        "--retry-errors": request.retry_errors,
    }
    for flag, there in given.items():
        if there:
            raise UsageError(f"--watch and {flag} cannot be combined", fix="leave one of them out")

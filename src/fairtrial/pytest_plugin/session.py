"""What runs marked tests: in a worker of pytest-xdist as in pytest's only process.

A process that runs tests sends each row's trials with the report of its item. The process that
prints, the controller or the only one, takes them from there and is the only one to write
experiments: each trial is written once, whoever ran it.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
import pytest
from _pytest.runner import runtestprotocol

from fairtrial.app.bench import bench_here
from fairtrial.app.ci import environment_here
from fairtrial.model.errors import FairtrialError
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Cause, Verdict
from fairtrial.pytest_plugin.judging import Happened, Judge
from fairtrial.pytest_plugin.marks import NAMES, Rows, arm_of, mark_of, rows_of, values_of, wrapped
from fairtrial.pytest_plugin.recording import Head, Recorder
from fairtrial.sdk.naming import Names

_STREAK: Final = 5
"""So many rows in a row without a verdict because of infrastructure end the run."""
_HAPPENED: Final = pytest.StashKey[Happened]()
_ARM: Final = pytest.StashKey[str]()
_TOLERANCE: Final = 1e-9
_XPASS: Final = "[XPASS(strict)]"
"""How pytest begins to tell of a test that passed and must not."""


class Session:
    """The hooks that work once a marked test is there."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._off = bool(config.option.fairtrial_off)
        self._rows: dict[str, Rows] = {}
        self._judges: dict[str, Judge] = {}
        self._sent: set[str] = set()
        self._items: dict[str, list[pytest.Function]] = {}
        self._names = Names()
        self._bench = dataclasses.replace(
            bench_here(dict(os.environ)), functions=self._names.functions
        )
        self._seen: dict[str, dict[str, list[Any]]] = {}
        self._streak = 0
        self._ready = False
        self._recorder = None if hasattr(config, "workerinput") else Recorder(config, self._bench)

    def parametrize(self, metafunc: pytest.Metafunc, mark: pytest.Mark) -> None:
        """Run a marked test over its rows; mistakes in the mark are errors of the collection."""
        del mark  # all of them count, the nearest most
        key = metafunc.definition.nodeid
        names = [name for name in NAMES if name in metafunc.fixturenames]
        try:
            marks = list(metafunc.definition.iter_markers("fairtrial"))
            asked = mark_of(marks, metafunc.config)
            rows = rows_of(self._bench, key, asked, metafunc.definition.path.parent)
            judge = Judge.of(self._bench, self._names, _function(metafunc), asked.graders)
            self._judges[key] = judge
            self._check(judge)
        except (FairtrialError, TypeError) as error:
            raise pytest.Collector.CollectError(f"{key}: mark fairtrial: {error}") from None
        if not names:
            raise pytest.Collector.CollectError(
                f"{key}: a test with the mark fairtrial takes a parameter called case, input or "
                "expected"
            )
        self._rows[key] = rows
        metafunc.parametrize(
            names,
            [
                pytest.param(
                    *(values_of(rows.cases[place])[name] for name in names),
                    id=str(rows.cases[place].key),
                    marks=pytest.mark.fairtrial_row(place),
                )
                for place in rows.chosen
            ],
        )

    def _check(self, judge: Judge) -> None:
        """Find what would keep results from being kept while nothing has run yet.

        Raises:
            FairtrialError: the store cannot be opened, a grader cannot be built, there is no such
                baseline, or the environment is none.
        """
        if self._off or self._config.option.collectonly:
            return
        judge.check()
        if self._ready:
            return
        environment_here(self._bench.environ)
        baseline = self._config.option.fairtrial_baseline
        if baseline is not None:
            self._bench.store.experiments.find(baseline)
        self._ready = True

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note which rows are to run, when all were selected."""
        for item in session.items:
            rows = self._rows_of(item)
            if rows is not None and isinstance(item, pytest.Function):
                self._items.setdefault(rows.key, []).append(item)
                item.stash[_ARM] = arm_of(item, self._seen.setdefault(rows.key, {}))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Keep what a marked test returns, which pytest has no use for."""
        if self._rows_of(item) is None or not isinstance(item, pytest.Function):
            return (yield)
        happened = item.stash.setdefault(_HAPPENED, Happened())
        function = item.obj

        def keep(value: Any) -> None:
            happened.value = value

        item.obj = wrapped(function, keep)
        try:
            return (yield)
        finally:
            item.obj = function

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Iterator[None]:
        """Keep what a marked test, or a fixture of it, raised."""
        report: Any = yield
        if self._rows_of(item) is not None and call.when in ("setup", "call"):
            happened = item.stash.setdefault(_HAPPENED, Happened())
            if call.when == "call":
                happened.started_at = datetime.fromtimestamp(call.start, UTC)
                happened.duration_s = call.duration
            if call.excinfo is not None and not report.skipped:
                happened.error = call.excinfo.value
                happened.in_setup = call.when == "setup"
                crash = getattr(report.longrepr, "reprcrash", None)
                happened.message = getattr(crash, "message", None) or str(call.excinfo.value)
        return report  # type: ignore[no-any-return]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Any:
        """Run all trials of a row, each with fixtures of its own, and report them as one item."""
        rows = self._rows_of(item)
        if rows is None or self._off or not isinstance(item, pytest.Function):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        happened: list[Happened] = []
        runs: list[list[pytest.TestReport]] = []
        for number in range(1, rows.mark.trials + 1):
            item.stash[_HAPPENED] = Happened()
            is_last = number == rows.mark.trials
            # Towards its own parent only what belongs to this item is torn down.
            towards: Any = nextitem if is_last else item.parent
            runs.append(runtestprotocol(item, log=False, nextitem=towards))
            if any(report.skipped for report in runs[-1]):
                break
            happened.append(item.stash[_HAPPENED])
            if happened[-1].in_setup:
                break
        if len(runs) < rows.mark.trials:
            item.session._setupstate.teardown_exact(nextitem)  # noqa: SLF001  # what the last would
        for report in self._reports(item, rows, runs, happened):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _reports(
        self,
        item: pytest.Function,
        rows: Rows,
        runs: list[list[pytest.TestReport]],
        happened: list[Happened],
    ) -> list[pytest.TestReport]:
        """Return the reports of a row: those of its first trial that tells why it missed."""
        judge, case = self._judges[rows.key], rows.cases[_place(item)]
        try:
            trials = judge.trials(case, item.stash[_ARM], happened)
        except FairtrialError as error:  # the next row would meet it, too
            _lost(runs[-1], error)
            item.session.shouldstop = f"fairtrial: {error.what}"
            return runs[-1]
        shown = next(
            (
                place
                for place, trial in enumerate(trials)
                if trial.verdict is not Verdict.PASSED and place < len(runs)
            ),
            len(runs) - 1,
        )
        reports = runs[shown]
        if not trials or len(trials) < len(runs):  # skipped
            return runs[-1]
        call = next((one for one in reports if one.when == "call"), reports[0])
        call.duration = sum(trial.duration_s or 0.0 for trial in trials)
        judged = _Judged.of(trials, rows.mark.bar)
        judged.put(call)
        call.__dict__["fairtrial"] = self._message(rows, trials)
        for report in reports:
            report.user_properties = [*report.user_properties, *judged.properties]
        self._watch(item.session, trials)
        return reports

    def _message(self, rows: Rows, trials: list[Trial]) -> dict[str, str]:
        """Return trials as they are sent; the first ones tell of their experiment too."""
        message = {"key": rows.key, "trials": msgspec.json.encode(trials).decode()}
        if rows.key not in self._sent:
            try:
                message["head"] = msgspec.json.encode(self._head(rows)).decode()
            except FairtrialError as error:
                return {"key": rows.key, "trouble": str(error)}
            self._sent.add(rows.key)
        return message

    def _head(self, rows: Rows) -> Head:
        items = self._items[rows.key]
        ref = rows.ref
        if ref is None:
            # Whoever comes first writes it; the same cases make no second version.
            ref = self._bench.store.datasets.add_version(rows.name, rows.cases)[0].ref
        places = sorted({_place(item) for item in items})
        arms = list(dict.fromkeys(item.stash[_ARM] for item in items))
        specs = self._judges[rows.key].specs
        function = specs[0].options["function"]
        return Head(
            rows.key,
            rows.name,
            ref,
            places,
            {arm: {"kind": "python", "function": function} for arm in arms},
            [spec.content() for spec in specs],
            rows.mark.trials,
            rows.mark.threshold,
        )

    def _rows_of(self, item: pytest.Item) -> Rows | None:
        if not isinstance(item, pytest.Function) or item.parent is None:
            return None
        return self._rows.get(f"{item.parent.nodeid}::{item.originalname}")

    def _watch(self, session: pytest.Session, trials: list[Trial]) -> None:
        """End the run when the world is broken: what is left would say no more."""
        broken = all(trial.cause is Cause.INFRA for trial in trials)
        self._streak = self._streak + 1 if broken else 0
        if self._streak >= _STREAK:
            session.shouldstop = (
                f"fairtrial: {_STREAK} cases in a row without a verdict: {trials[-1].reason}"
            )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the trials that a report brings."""
        message = getattr(report, "fairtrial", None)
        if self._recorder is not None and message is not None:
            self._recorder.take(message)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        """Tell rows that missed from those that passed, where only the whole is held to a bar."""
        if report.when == "call" and getattr(report, "fairtrial_missed", False):
            return "missed", "m", ("MISSED", {"yellow": True})
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Close the experiments; one that is below its bar fails the session."""
        try:
            if self._recorder is not None and self._recorder.finish() and not session.exitstatus:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
        finally:
            self._bench.close()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print what each experiment came to."""
        if self._recorder is not None:
            self._recorder.summarize(terminalreporter)


@dataclasses.dataclass(frozen=True, slots=True)
class _Judged:
    """What the trials of a row come to.

    Attributes:
        missed: Why the row does not count as passed; None when it does.
        fails: Whether that fails its item.
        properties: What JUnit reports say of it.
    """

    missed: str | None
    fails: bool
    properties: list[tuple[str, object]]

    @classmethod
    def of(cls, trials: list[Trial], bar: float | None) -> _Judged:
        """Return what trials come to; without a bar only the whole is held to one."""
        passed = sum(trial.verdict is Verdict.PASSED for trial in trials)
        decided = sum(trial.verdict is not Verdict.UNDECIDED for trial in trials)
        needed = 1.0 if bar is None else bar
        missed = None
        if not decided:
            missed = f"no verdict in {len(trials)} trials: {trials[0].reason}"
        elif passed / decided < needed - _TOLERANCE:
            reasons = dict.fromkeys(trial.reason for trial in trials if trial.reason)
            missed = (
                f"{passed} of {decided} trials passed, {100 * needed:.4g} % needed\n"
                + "\n".join(f"  {reason}" for reason in reasons)
            )
        scores = [trial.score for trial in trials if trial.score is not None]
        properties: list[tuple[str, object]] = [
            ("fairtrial_passed", passed),
            ("fairtrial_failed", decided - passed),
            ("fairtrial_undecided", len(trials) - decided),
        ]
        if scores:
            properties.append(("fairtrial_score", round(sum(scores) / len(scores), 6)))
        return cls(missed, missed is not None and bar is not None, properties)

    def put(self, report: pytest.TestReport) -> None:
        """Make it the outcome of a report; the traceback of a failed test stays."""
        if report.when != "call":
            return  # a fixture failed, which pytest tells as an error
        if str(report.longrepr or "").startswith(_XPASS):
            return  # that it passed is what is wrong
        if self.missed is None or not self.fails:
            report.outcome = "passed"
            report.longrepr = None
            if self.missed is not None:
                report.__dict__["fairtrial_missed"] = True
            return
        if report.outcome == "failed":
            report.sections.append(("fairtrial", self.missed))
            return
        report.outcome = "failed"
        report.longrepr = self.missed


def _lost(reports: list[pytest.TestReport], error: FairtrialError) -> None:
    """Say in the reports of a row why nothing could be told of it."""
    call = next((one for one in reports if one.when == "call"), reports[0])
    call.outcome = "failed"
    call.longrepr = str(error)


def _place(item: pytest.Item) -> int:
    """Return the place of an item's case in the dataset."""
    mark = item.get_closest_marker("fairtrial_row")
    assert mark is not None  # noqa: S101  # given with the parameters
    return int(mark.args[0])


def _function(metafunc: pytest.Metafunc) -> str:
    return f"{metafunc.module.__name__}:{metafunc.function.__qualname__}"

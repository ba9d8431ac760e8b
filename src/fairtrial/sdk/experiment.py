"""An experiment of the store, as a program reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from fairtrial.app.bench import Bench, bench_here
from fairtrial.app.exp_show import exp_show
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.app.requests.exp_show import Request
from fairtrial.interchange.experiment_exports.export import headline, trial_json
from fairtrial.model.errors import ExitCode, UsageError
from fairtrial.model.experiment import Provenance, Status
from fairtrial.model.json import Json
from fairtrial.model.row import Row
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Verdict
from fairtrial.ports import EVERY_ROW, RowQuery, TrialFilter
from fairtrial.sdk.comparison import Comparison, compare
from fairtrial.sdk.plain_errors import AtTheCall
from fairtrial.sdk.words import size
from fairtrial.stats.proportion import Rate

_SHOWN = 10


@dataclass(frozen=True, slots=True, repr=False)
class Experiment:
    """An experiment as it stood when it was read; its trials are read from the store when asked.

    Attributes:
        report: All that `fairtrial exp show` says of it.
        comparison: It against its baseline; None when there is none, and `why_not_compared` says
            why.
        why_not_compared: Why there is no comparison.
        environ: Where the store is, as the environment says it; None is that of the process.
    """

    report: ExperimentReport
    comparison: Comparison | None = None
    why_not_compared: str | None = None
    environ: Mapping[str, str] | None = None

    @classmethod
    def of(cls, ref: str, environ: Mapping[str, str] | None = None) -> Experiment:
        """Return a stored experiment, by its id, a unique prefix, or its name (the newest).

        Raises:
            NotFoundError: there is none.
            UsageError: it measured commands, and has no trials that were graded.
        """
        with AtTheCall(), closing(bench_here(environ)) as bench:
            report = exp_show(bench, Request(ref))
        if not isinstance(report, ExperimentReport):
            raise UsageError(
                f"{ref} measures commands in pairs, and grades nothing",
                fix=f"see it with: fairtrial exp show {ref}",
            )
        return cls(report, environ=environ)

    @property
    def id(self) -> str:
        """`exp_` and a ULID."""
        return self.report.state.experiment.id

    @property
    def name(self) -> str:
        """Its name."""
        return self.report.state.experiment.name

    @property
    def status(self) -> Status:
        """Where it stands: finished, interrupted, stopped, running."""
        return self.report.state.status

    @property
    def provenance(self) -> Provenance:
        """Where it ran: commit, branch, pull request, environment, machine."""
        return self.report.state.experiment.provenance

    @property
    def pass_rate(self) -> Rate:
        """The pass rate over its cases with its interval; undecided trials are in neither."""
        return self.report.pass_rate

    @property
    def means(self) -> dict[str, float | None]:
        """The mean value of each grader over the trials it scored; None when it scored none."""
        return {totals.grader: totals.mean for totals in self.report.graders}

    @property
    def passed(self) -> int:
        """Trials that passed."""
        return self.report.state.totals.passed

    @property
    def failed(self) -> int:
        """Trials that failed."""
        return self.report.state.totals.failed

    @property
    def undecided(self) -> int:
        """Trials without a verdict: infrastructure, or a grader that could not answer."""
        return self.report.state.totals.undecided

    @property
    def cost_usd(self) -> float | None:
        """The sum of the costs that are known; None when none is."""
        return self.report.state.totals.cost_usd

    @property
    def exit_code(self) -> ExitCode:
        """What `fairtrial exp run` would have ended with."""
        return self.report.exit_code

    @property
    def rows(self) -> Sequence[Row]:
        """Each case with the counts of its trials, ordered by case id."""
        with self._bench() as bench:
            return bench.store.experiments.rows(self.id, RowQuery(limit=EVERY_ROW))

    @property
    def failures(self) -> Sequence[Trial]:
        """The trials that failed, whole."""
        return list(self.trials(Verdict.FAILED))

    def trials(self, *verdicts: Verdict) -> Iterator[Trial]:
        """Yield its trials, whole; only those with one of these verdicts, if any is given."""
        where = TrialFilter(verdicts=frozenset(verdicts) or None)
        with self._bench() as bench:
            yield from bench.store.experiments.trials(self.id, where)

    def to_dicts(self) -> list[dict[str, Json]]:
        """Return its trials as dicts of JSON, e.g. for `pandas.DataFrame`.

        The keys are those of `fairtrial exp export --to jsonl`.
        """
        return [trial_json(trial) for trial in self.trials()]

    def compare(self, baseline: Experiment | str) -> Comparison:
        """Compare it with another experiment, which is the baseline; as `compare`."""
        return compare(baseline, self, environ=self.environ)

    def lines(self) -> Iterator[str]:
        """Yield what it came to in a few lines of plain text."""
        experiment, totals = self.report.state.experiment, self.report.state.totals
        yield f"{_line(self.name)}  {self.id}  {self.status}"
        yield (
            f"{size(experiment)}: {totals.passed:,} passed, {totals.failed:,} failed, "
            f"{totals.undecided:,} undecided"
        )
        if self.report.state.status_reason:
            yield _line(self.report.state.status_reason)
        if self.report.note:
            yield _line(self.report.note)
        yield headline(self.pass_rate)
        for totals_of in self.report.graders:
            mean = "no score" if totals_of.mean is None else f"mean {totals_of.mean:.3f}"
            yield (
                f"  {_line(totals_of.grader)}: {mean}, {totals_of.scored:,} of "
                f"{totals_of.total:,} scored"
            )
        if self.comparison is not None:
            yield from self.comparison.lines()
        elif self.why_not_compared:
            yield _line(self.why_not_compared)
        for row in self.report.failed_rows[:_SHOWN]:
            reason = f"  {_line(row.first_reason)}" if row.first_reason else ""
            yield f"  ✗ {_line(str(row.key))}  {row.passed}/{row.decided} passed{reason}"
        left = self.report.n_failed_rows - min(len(self.report.failed_rows), _SHOWN)
        if left > 0:
            yield f"  and {left:,} more"

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        """Return it for a notebook: all text escaped, nothing loaded from elsewhere."""
        # Only a notebook needs templates.
        from fairtrial.sdk.html import experiment_html  # noqa: PLC0415

        with self._bench() as bench:
            return experiment_html(bench.store.experiments, self)

    def _bench(self) -> closing[Bench]:
        return closing(bench_here(self.environ))


def _line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)

"""An experiment's summary as text."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from fairtrial.app.pass_rates import sampled_adaptively
from fairtrial.app.reports.comparison import ComparisonReport
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.cli.render.comparison import render_comparison
from fairtrial.cli.render.gate import render_gate
from fairtrial.cli.render.grader_noise import render_grader_noise
from fairtrial.cli.render.lines import line, more, section, table
from fairtrial.cli.render.matrix import render_matrix
from fairtrial.cli.render.race import render_race
from fairtrial.cli.render.replay import render_replay
from fairtrial.cli.render.words import (
    counted,
    duration,
    flips,
    money,
    number,
    percent,
    reused,
    spent,
    when,
)
from fairtrial.model.design import DesignReading
from fairtrial.model.experiment import Experiment, Status
from fairtrial.model.json import Json
from fairtrial.model.row import Row
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Cause
from fairtrial.model.wording import excerpt

CAUSES = {
    Cause.TASK: ("Task errors", "the task itself failed; counted as failed"),
    Cause.LIMIT: ("Over the time limit", "counted as failed"),
    Cause.INFRA: ("Infrastructure", "undecided, in no rate"),
    Cause.GRADER: ("A grader could not answer", "undecided, in no rate; the output is kept"),
    Cause.UNDECIDABLE: ("Undecidable", "undecided, in no rate"),
    Cause.INTERNAL: ("Defects of fairtrial", "undecided, in no rate; please report them"),
}
BAR = 40
_LONGEST_KEY = 60


def render_experiment(
    report: ExperimentReport, console: Console, *, next_steps: bool = True, asked: bool = False
) -> None:
    """Print the summary: what it came to, per grader, what went wrong, what to do next.

    With `asked`, it also says why nothing can be counted against a baseline.
    """
    if report.note:
        line(console, report.note, "yellow")
    render_headline(report, console)
    if asked or (report.comparison is None and _counted(report)):
        _against(report, console)
    if report.matrix is not None:
        _cells(report, report.matrix, console)
    elif report.comparison is not None:
        _compared(report, report.comparison, console)
    else:
        _alone(report, console)
    render_timelines(report, console)
    if next_steps:
        render_next(report, console)


def render_timelines(report: ExperimentReport, console: Console) -> None:
    """Print what changed since the run before it, and whether its loop should stop."""
    if report.in_session is not None:
        console.print()
        line(console, report.in_session.sentence(), "bold")
    if report.loop is not None:
        section(console, f"Loop of {report.loop.of}")
        line(console, f"  {report.loop.summary()}")


def _alone(report: ExperimentReport, console: Console) -> None:
    if report.design is not None:
        render_design(report.design, console)
    if report.arms:
        _arms(report, console)
    else:
        _rate(report, console)
    _replay(report, console)
    render_graders(report, console)
    if report.grader_noise is not None:
        render_grader_noise(report.grader_noise.noise, console)
    _failures(report, console)
    _flaky(report, console)
    render_problems(report, console)
    _slowest(report, console)
    if report.gate is not None:
        render_gate(report.gate, console)


def _compared(report: ExperimentReport, comparison: ComparisonReport, console: Console) -> None:
    """Print what two arms came to; which of them failed where stands in their comparison."""
    _arms(report, console)
    _replay(report, console)
    render_problems(report, console)
    if report.gate is not None:
        render_gate(report.gate, console)
    console.print()
    render_comparison(comparison, console)
    if report.design is not None:
        render_design(report.design, console)


def _cells(report: ExperimentReport, matrix: Mapping[str, Json], console: Console) -> None:
    """Print the cells of a matrix beside its baseline."""
    if report.design is not None:
        render_design(report.design, console)
    render_matrix(matrix, console)
    render_problems(report, console)
    if report.gate is not None:
        render_gate(report.gate, console)


def render_headline(report: ExperimentReport, console: Console) -> None:
    """Print what ran, how far it came and what it cost."""
    state = report.state
    experiment, totals = state.experiment, state.totals
    line(console, f"{experiment.name}  on {experiment.on_dataset}", "bold")
    line(console, f"{experiment.id}  {when(experiment.created_at)}", "dim")
    parts = [
        _planned(experiment),
        f"{totals.passed:,} passed",
        f"{totals.failed:,} failed",
        f"{totals.undecided:,} undecided",
    ]
    if totals.cost_usd is not None:
        known = "" if totals.costed == totals.recorded else f" (known for {totals.costed:,})"
        parts.append(money(totals.cost_usd) + known)
    parts += spent(None, totals.grading_cost_usd)
    parts += [reused(one.source, one.calls, one.cost_usd) for one in totals.reused]
    line(console, ", ".join(parts))
    if state.status is not Status.FINISHED:
        left = experiment.n_planned - totals.recorded
        reason = f": {state.status_reason}" if state.status_reason else ""
        line(console, f"{state.standing}{reason}; {counted(left, 'trial')} not run", "yellow")


def _planned(experiment: Experiment) -> str:
    """Return what was planned; a design may run fewer trials, or fewer cases."""
    cases, trials = counted(experiment.n_cases, "case"), counted(experiment.trials, "trial")
    if not experiment.may_run_fewer:
        return f"{cases} × {trials}"
    fewer_trials = experiment.spec["design"]["kind"] == "adaptive"
    return f"{cases} × at most {trials}" if fewer_trials else f"at most {cases} × {trials}"


def _counted(report: ExperimentReport) -> bool:
    return report.vs_baseline is not None and report.vs_baseline.flips is not None


def _against(report: ExperimentReport, console: Console) -> None:
    against = report.vs_baseline
    if against is None:
        return
    text = f"vs baseline {flips(against.flips)}"
    if against.flips is None:
        line(console, f"{text}  {against.reason}", "dim")
        return
    same = against.id == report.state.experiment.id
    baseline = f"arm {against.arm}" if same else f"{against.name} ({against.id})"
    compared = counted(against.flips.compared, "case")
    line(console, f"{text}  fixed and broken of {compared} shared with {baseline}")


def render_design(reading: DesignReading, console: Console) -> None:
    """Print what a design found, and its looks."""
    console.print()
    first, *others = reading.lines
    line(console, first, "bold")
    for text in others:
        line(console, text)
    if reading.kind == "seq":
        _attempts(reading, console)
    if "rounds" in reading.facts:
        render_race(reading.facts, console)
    looks = reading.facts.get("looks", ())
    if looks:
        rows = [
            (
                f"{look['look']}",
                f"{look['cases']:,}",
                "–" if look["p"] is None else f"{look['p']:.2g}",
                "–" if look["limit"] is None else f"{look['limit']:.2g}",
                "stop" if look["stops"] else "go on",
            )
            for look in looks
        ]
        table(console, (">Look", ">Cases", ">p", ">Limit", "Says"), rows)


def _attempts(reading: DesignReading, console: Console) -> None:
    """Print Seq@k of each arm."""
    arms = reading.facts["arms"]
    rows = [
        (
            f"Seq@{rate['k']}",
            *([arm] if len(arms) > 1 else []),
            percent(rate["estimate"]),
            "–"
            if rate["ci"] is None
            else f"{percent(rate['ci']['lower'])} to {percent(rate['ci']['upper'])}",
            f"{rate['n']:,}",
        )
        for arm, found in arms.items()
        for rate in found["seq"]
    ]
    several = ["Arm"] if len(arms) > 1 else []
    table(console, ("Within", *several, ">Solved", ">95 % interval", ">Cases"), rows)


def _arms(report: ExperimentReport, console: Console) -> None:
    console.print()
    line(console, "Pass rate of each arm", "bold")
    for arm, rate in report.arms.items():
        if rate.estimate is None:
            line(console, f"  {arm}  none: {rate.reason}")
        elif _without_interval(report) or rate.interval is None:
            line(console, f"  {arm}  {percent(rate.estimate)}")
        else:
            low, high = rate.interval.lower, rate.interval.upper
            shown = f"{percent(rate.estimate)}  {interval_bar(low, rate.estimate, high)}"
            line(console, f"  {arm}  {shown}  {percent(low)} to {percent(high)}")


def _replay(report: ExperimentReport, console: Console) -> None:
    if report.replay is not None:
        render_replay(report.replay, console)


def _without_interval(report: ExperimentReport) -> bool:
    return sampled_adaptively(report.state.experiment)


def _rate(report: ExperimentReport, console: Console) -> None:
    rate = report.pass_rate
    if _without_interval(report):
        return
    console.print()
    if rate.estimate is None or rate.interval is None:
        line(console, f"Pass rate  none: {rate.reason}", "bold")
        return
    low, high = rate.interval.lower, rate.interval.upper
    level = f"{100 * rate.interval.level:g}%"
    line(console, f"Pass rate  {percent(rate.estimate)}", "bold")
    line(console, f"  {interval_bar(low, rate.estimate, high)}")
    line(
        console,
        f"  {level} interval {percent(low)} to {percent(high)} "
        f"({rate.interval.method} over {counted(rate.n, 'case')})",
    )


def interval_bar(low: float, estimate: float, high: float) -> str:
    """Draw 0 to 100 % as a line, the interval thick, the estimate as a dot."""
    cells = ["─"] * (BAR + 1)
    first, last = round(low * BAR), round(high * BAR)
    cells[first : last + 1] = "━" * (last + 1 - first)
    cells[round(estimate * BAR)] = "●"
    return f"0% {''.join(cells)} 100%"


def render_graders(report: ExperimentReport, console: Console) -> None:
    """Print each grader's mean, how many trials it scored, and how many passed it."""
    if report.graders:
        console.print()
        rows = [
            (
                totals.grader,
                number(totals.mean),
                f"{totals.scored:,} / {totals.total:,}",
                percent(totals.passed / totals.scored if totals.scored else None),
            )
            for totals in report.graders
        ]
        table(console, ("Grader", ">Mean", ">Scored", ">Passed"), rows)


def _failures(report: ExperimentReport, console: Console) -> None:
    if report.n_failed_rows:
        several = report.state.experiment.trials > 1
        title = "Failed in at least one trial" if several else "Failed"
        section(console, f"{title}: {counted(report.n_failed_rows, 'case')}")
        for row in report.failed_rows:
            reason = f"  {row.first_reason}" if row.first_reason else ""
            line(console, f"  {row.key}  {row.passed}/{row.decided} passed{reason}", cut=True)
        more(console, report.n_failed_rows - len(report.failed_rows))


def _flaky(report: ExperimentReport, console: Console) -> None:
    total = report.state.totals.flaky_rows
    if total:
        title = f"Flaky, passed in some trials only: {counted(total, 'case')}"
        section(console, title)
        names = ", ".join(f"{_short(row)} {row.passed}/{row.decided}" for row in report.flaky_rows)
        line(console, f"  {names}" + (" …" if total > len(report.flaky_rows) else ""))


def render_problems(report: ExperimentReport, console: Console) -> None:
    """Print the trials that no grader decided, by cause."""
    for cause, trials in report.problems.items():
        title, meaning = CAUSES[cause]
        total = report.state.totals.causes[cause]
        section(console, f"{title}: {counted(total, 'trial')} ({meaning})")
        by_reason: dict[str, list[Trial]] = {}
        for trial in trials:
            by_reason.setdefault(trial.reason or "", []).append(trial)
        shown = list(by_reason.items())[:5]
        for reason, alike in shown:
            others = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
            key = alike[0].key
            line(console, f"  {key.case_key} trial {key.trial}{others}  {reason}")
        more(console, total - sum(len(alike) for _, alike in shown))


def _slowest(report: ExperimentReport, console: Console) -> None:
    rows = report.slowest_rows[:3]
    if rows:
        names = ", ".join(f"{_short(row)} {duration(row.mean_duration_s)}" for row in rows)
        section(console, "Slowest cases")
        line(console, f"  {names}")


def _short(row: Row) -> str:
    """Return a row's key; an id may be thousands of characters long."""
    return excerpt(str(row.key), _LONGEST_KEY)


def render_next(report: ExperimentReport, console: Console) -> None:
    """Print the commands worth trying now."""
    if report.next_steps:
        section(console, "Next")
        for command, does in report.next_steps:
            line(console, f"  {does}:  {command}")

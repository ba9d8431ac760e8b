"""`exp aa` as text: the noise floor in plain words, and what it lets a comparison see."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.aa import AaReport
from fairtrial.cli.render.experiment import render_experiment
from fairtrial.cli.render.lines import line, section, table
from fairtrial.cli.render.words import counted, percent
from fairtrial.model.experiment import Status
from fairtrial.model.noise import NoiseFloor


def render(report: AaReport, console: Console) -> None:
    """Print both runs' rates, how often a verdict flips, drift, and the smallest differences."""
    experiments = [state.experiment for state in report.states]
    line(console, " and ".join(f"{one.name}  {one.id}" for one in experiments), "bold")
    if report.floor is None:
        line(console, f"No noise floor: {report.reason}", "yellow")
        if report.experiment is not None and report.experiment.state.status is not Status.FINISHED:
            console.print()
            render_experiment(report.experiment, console, next_steps=False)
            section(console, "Next")
            again = f"fairtrial exp aa --resume {experiments[0].id}"
            line(console, f"  run what is left:  {again}")
        return
    _floor(report.floor, console)


def _floor(floor: NoiseFloor, console: Console) -> None:
    each = "1 trial" if floor.trials == 1 else f"{floor.trials:g} trials"
    size = f"{counted(floor.cases, 'case')} × {each} a run"
    line(console, f"Nothing was changed between the two runs: {size}")
    section(console, "Noise floor")
    first, second = percent(floor.first), percent(floor.second)
    line(console, f"  run 1 passed {first}, run 2 passed {second}")
    line(console, f"  {_flips(floor)}")
    between = "unknown" if floor.between is None else f"{floor.between:.4f}"
    line(console, f"  variance within cases {floor.within:.4f}, between cases {between}")
    line(console, f"  two runs of this size differ {floor.luck.words} by luck alone")
    if floor.drifts:
        line(
            console,
            f"  the runs differ more than luck explains (p = {floor.drift_p:.2g}, "
            f"{floor.drift_method}): something around the agent moved",
            "yellow",
        )
    else:
        line(console, f"  no sign of drift (p = {floor.drift_p:.2g}, {floor.drift_method})")
    section(console, "Smallest difference that a comparison shows 8 times in 10")
    if floor.flip_rate_at_most is not None:
        line(console, "  if verdicts flip as often as that; less often, it may be smaller", "dim")
    trials = sorted({entry.trials for entry in floor.visible})
    effects = {(entry.cases, entry.trials): entry.effect for entry in floor.visible}
    rows = [
        (f"{cases:,}", *(_points(effects[cases, k]) for k in trials))
        for cases in sorted({entry.cases for entry in floor.visible})
    ]
    table(console, (">Cases", *(f">{counted(k, 'trial')}" for k in trials)), rows)
    console.print()
    line(console, "Kept for this dataset, task and graders.", "dim")


def _flips(floor: NoiseFloor) -> str:
    most = floor.flip_rate_at_most
    if most is None:
        share = percent(floor.flip_rate)
        return f"the verdict of a case flips between two trials {share} of the time"
    return (
        f"no verdict flipped between two trials, in {counted(floor.cases, 'case')}: 95 % sure that "
        f"one flips at most {percent(most)} of the time"
    )


def _points(effect: float | None) -> str:
    return "–" if effect is None else f"{100 * effect:.1f}"

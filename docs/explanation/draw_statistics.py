"""Draw the pictures of `statistics.md` and compute the numbers its text quotes.

`python docs/explanation/draw_statistics.py` rewrites `docs/explanation/img/*.svg`. Everything is
computed by the package itself with fixed seeds, so a test can compare pictures and text with it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from fairtrial.stats.edetector.detector import e_detector
from fairtrial.stats.gate.net_gain import fewest_fixes
from fairtrial.stats.interval import Interval
from fairtrial.stats.paired.counts import PairedCounts
from fairtrial.stats.paired.mcnemar import mcnemar
from fairtrial.stats.paired.tango import tango
from fairtrial.stats.power import flaky_design, smallest_effect
from fairtrial.stats.ppi.difference import CorrectedDifference, judged_arm, ppi_difference
from fairtrial.stats.proportion import pass_rate, wilson
from fairtrial.stats.selection import failing_subset_gain
from fairtrial.stats.sequential.bounds import obrien_fleming_bounds
from fairtrial.stats.sequential.design import sequential_design

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 260, 190, 24, 34, 44
INK, GRID, BLUE, RED, GREEN = "#1f2933", "#d5dae0", "#1769aa", "#b3261e", "#2e7d32"

Point = tuple[float, float]


@dataclass
class Chart:
    """A small chart: x and y scales, and marks in them."""

    title: str
    x: tuple[float, float]
    y: tuple[float, float]
    left: int = LEFT
    marks: list[str] = field(default_factory=list)

    def at(self, x: float, y: float) -> Point:
        """Return the place of a point on the picture."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return (
            self.left + across * (WIDTH - self.left - RIGHT),
            HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM),
        )

    def text(self, place: Point, words: str, anchor: str = "start", colour: str = INK) -> None:
        """Write words at a place of the picture."""
        self.marks.append(
            f'<text x="{place[0]:.1f}" y="{place[1]:.1f}" text-anchor="{anchor}" '
            f'fill="{colour}">{escape(words)}</text>'
        )

    def line(self, points: Sequence[Point], colour: str, width: float = 2, dash: str = "") -> None:
        """Draw a line through data points."""
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in (self.at(*p) for p in points))
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.marks.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" '
            f'stroke-width="{width}"{dashed}/>'
        )

    def dot(self, point: Point, colour: str) -> None:
        """Draw a dot at a data point."""
        px, py = self.at(*point)
        self.marks.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4" fill="{colour}"/>')

    def ticks(self, values: Sequence[float], form: str, label: str) -> None:
        """Draw vertical grid lines with their values, and what they are."""
        for value in values:
            self.line([(value, self.y[0]), (value, self.y[1])], GRID, 1)
            px, _ = self.at(value, self.y[0])
            self.text((px, HEIGHT - BOTTOM + 16), form.format(value), "middle")
        middle = 0.5 * (self.left + WIDTH - RIGHT)
        self.text((middle, HEIGHT - 8), label, "middle")

    def levels(self, values: Sequence[float], form: str) -> None:
        """Draw horizontal grid lines with their values."""
        for value in values:
            self.line([(self.x[0], value), (self.x[1], value)], GRID, 1)
            _, py = self.at(self.x[0], value)
            self.text((self.left - 8, py + 4), form.format(value), "end")

    def bar(self, row: float, name: str, interval: Interval, middle: float, colour: str) -> None:
        """Draw a named interval with its estimate."""
        self.line([(interval.lower, row), (interval.upper, row)], colour, 3)
        self.dot((middle, row), colour)
        _, py = self.at(self.x[0], row)
        self.text((self.left - 10, py + 4), name, "end")

    def svg(self) -> str:
        """Return the picture."""
        body = "\n".join(self.marks)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif" font-size="12" role="img" '
            f'aria-label="{escape(self.title)}">\n'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n'
            f'<text x="12" y="20" font-size="14" font-weight="bold" fill="{INK}">'
            f"{escape(self.title)}</text>\n{body}\n</svg>\n"
        )


def _known(interval: Interval | None) -> Interval:
    if interval is None:
        message = "the picture needs an interval"
        raise RuntimeError(message)
    return interval


SPLITS = ((100, 1, 4), (100, 6, 9), (100, 16, 19), (1000, 60, 90))


def real_or_not() -> Chart:
    """Draw -3 points with few and many flips."""
    chart = Chart("82 % to 79 %: it depends on what flipped", (-0.2, 0.2), (0.2, 4.8), 250)
    chart.ticks([-0.2, -0.1, 0.0, 0.1, 0.2], "{:+.0%}", "candidate less baseline")
    chart.line([(0, 0.2), (0, 4.8)], INK, 1)
    for row, (n, fixed, broken) in enumerate(SPLITS):
        counts = PairedCounts((82 * n) // 100 - broken, fixed, broken, 18 * n // 100 - fixed)
        interval = _known(tango(counts).interval)
        colour = RED if interval.excludes(0.0) else BLUE
        name = f"{n:,} cases: {fixed} fixed, {broken} broken"
        chart.bar(4 - row, name, interval, counts.difference, colour)
    return chart


def how_many() -> Chart:
    """Draw the smallest visible difference by cases."""
    chart = Chart("The smallest difference a run can see", (10, 400), (0.0, 0.5), 70)
    chart.ticks([10, 50, 100, 200, 300, 400], "{:.0f}", "cases (a quarter of verdicts flip)")
    chart.levels([0.0, 0.1, 0.2, 0.3, 0.4, 0.5], "{:.0%}")
    for trials, colour in ((1, RED), (3, BLUE), (5, GREEN)):
        design = flaky_design(0.25, trials)
        points = [
            (float(n), smallest_effect(n, design.variance).effect or 0.0)
            for n in range(10, 401, 10)
        ]
        chart.line(points, colour)
        words = "1 trial an arm" if trials == 1 else f"{trials} trials an arm"
        chart.text((430, 60 + 18 * trials), words, colour=colour)
    return chart


CASES = {(0, 3): 8, (1, 3): 3, (2, 3): 4, (3, 3): 25}


def trials_are_not_cases() -> Chart:
    """Draw a pass rate with trials counted as cases, and honestly."""
    rate = pass_rate(CASES)
    passed = sum(p * cases for (p, _), cases in CASES.items())
    chart = Chart("40 cases run three times are not 120 cases", (0.4, 1.0), (0.2, 2.8), 250)
    chart.ticks([0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0], "{:.0%}", "pass rate")
    naive = wilson(passed, rate.trials)
    chart.bar(2, "as if 120 cases (wrong)", naive, passed / rate.trials, RED)
    chart.bar(1, "40 cases, three trials each", _known(rate.interval), rate.estimate or 0.0, BLUE)
    return chart


def looking_early() -> Chart:
    """Draw the limits of four looks."""
    bounds = obrien_fleming_bounds([0.25, 0.5, 0.75, 1.0])
    chart = Chart("How small p must be to stop at each of four looks", (0, 1.05), (0.0, 0.06), 70)
    chart.ticks([0.25, 0.5, 0.75, 1.0], "{:.0%}", "cases finished")
    chart.levels([0.0, 0.01, 0.02, 0.03, 0.04, 0.05], "{:.2f}")
    chart.line([(0, 0.05), (1.05, 0.05)], RED, 1.5, "5 4")
    points = list(zip(bounds.fractions, bounds.nominal_p, strict=True))
    chart.line(points, BLUE)
    for point in points:
        chart.dot(point, BLUE)
    px, py = chart.at(0.02, 0.052)
    chart.text((px, py), f"stop at .05 each time: {_peeking(4):.0%} false alarms", colour=RED)
    px, py = chart.at(0.4, 0.025)
    chart.text((px - 60, py), "these limits: 5 % in all", colour=BLUE)
    return chart


def _peeking(looks: int) -> float:
    z = np.cumsum(np.random.default_rng(1).normal(size=(200_000, looks)), axis=1)
    return float((np.abs(z / np.sqrt(np.arange(1, looks + 1))) >= 1.959964).any(axis=1).mean())


def ship_or_hold() -> Chart:
    """Draw the fewest fixes that ship."""
    chart = Chart("How many fixes make up for breaks", (0, 8), (0, 45), 70)
    chart.ticks(list(range(9)), "{:.0f}", "cases broken")
    chart.levels([0, 10, 20, 30, 40], "{:.0f} fixed")
    for weight, colour in ((1.0, GREEN), (2.0, BLUE), (3.0, RED)):
        points = [(float(k), float(fewest_fixes(k, weight))) for k in range(9)]
        chart.line(points, colour)
        for point in points:
            chart.dot(point, colour)
        words = f"one break costs {weight:.0f} fix" + ("" if weight == 1 else "es")
        chart.text((90, 60 + 18 * weight), words, colour=colour)
    return chart


SHAPES = {"crisp": (0.1, 0.1), "medium": (0.5, 0.5), "noisy": (2.0, 2.0)}


def failing_again() -> Chart:
    """Draw what an unchanged agent passes of its own failures."""
    chart = Chart("Rerun only the failures, change nothing", (0.0, 0.5), (0.2, 3.8))
    chart.ticks([0.0, 0.1, 0.2, 0.3, 0.4, 0.5], "{:.0%}", "pass on the second run")
    for row, (name, shape) in enumerate(SHAPES.items()):
        gain = failing_subset_gain(*shape).estimate
        chart.line([(0.0, 3 - row), (gain, 3 - row)], RED, 12)
        px, py = chart.at(gain, 3 - row)
        chart.text((px + 6, py + 4), f"{gain:.0%}")
        chart.text((LEFT - 10, py + 4), f"{name} cases", "end")
    return chart


def judged() -> CorrectedDifference:
    """Return the scene of a judge that favours the candidate: the true gain is 8 points."""
    rng = np.random.default_rng(42)
    arms = []
    for chance, lenient in ((0.50, 0.25), (0.58, 0.55)):
        truth = (np.arange(400) < 400 * chance).astype(float)
        judge = rng.random(400) < np.where(truth == 1.0, 0.92, lenient)
        known = np.full(400, np.nan)
        asked = rng.permutation(400)[:100]
        known[asked] = truth[asked]
        arms.append(judged_arm(known, judge.astype(float)))
    return ppi_difference(*arms)


def judge_and_labels() -> Chart:
    """Draw the judge alone and the corrected difference."""
    found = judged()
    chart = Chart("A lenient judge, and 100 human labels an arm", (-0.1, 0.3), (0.2, 2.8), 250)
    chart.ticks([-0.1, 0.0, 0.1, 0.2, 0.3], "{:+.0%}", "candidate less baseline")
    chart.line([(0.08, 0.2), (0.08, 2.8)], GREEN, 1.5, "5 4")
    chart.text((chart.at(0.085, 2.6)[0], chart.at(0.085, 2.6)[1]), "truth", colour=GREEN)
    chart.dot((found.judge_only, 2), RED)
    chart.text((240, chart.at(0, 2)[1] + 4), "the judge alone", "end")
    chart.bar(1, "corrected by labels", _known(found.interval), found.estimate or 0.0, BLUE)
    return chart


GAINS = [0.08, 0.08, 0.08, 0.08, *[0.0] * 12]


def plateau() -> Chart:
    """Draw the evidence of a loop that stops improving."""
    room = [1.0 - 0.4 - sum(GAINS[:k]) for k in range(len(GAINS))]
    found = e_detector(GAINS, eps=0.05, upper=room)
    chart = Chart("Four rounds of gains, then nothing", (0, 16), (0, 40), 70)
    chart.ticks([0, 4, 8, 12, 16], "{:.0f}", "round")
    chart.levels([0, 10, 20, 30, 40], "{:.0f}")
    chart.line([(0, found.need), (16, found.need)], RED, 1.5, "5 4")
    points = [(k + 1.0, min(40.0, e)) for k, e in enumerate(found.evidence)]
    chart.line(points, BLUE)
    stop = found.stop_round or 0
    chart.dot((stop, min(40.0, found.evidence[stop - 1])), BLUE)
    px, py = chart.at(0.3, found.need + 1)
    chart.text((px, py), f"stop at evidence {found.need:.0f}", colour=RED)
    return chart


PICTURES = {
    "real-or-not": real_or_not,
    "how-many": how_many,
    "trials-are-not-cases": trials_are_not_cases,
    "looking-early": looking_early,
    "ship-or-hold": ship_or_hold,
    "failing-again": failing_again,
    "judge-and-labels": judge_and_labels,
    "plateau": plateau,
}


def facts() -> dict[str, str]:
    """Return the numbers that the text of `statistics.md` quotes, as written there."""
    result = {}
    for n, fixed, broken in (SPLITS[0], *SPLITS[2:]):
        counts = PairedCounts((82 * n) // 100 - broken, fixed, broken, 18 * n // 100 - fixed)
        interval = _known(tango(counts).interval)
        name = f"{n} {fixed}/{broken}"
        result[f"interval {name}"] = f"{100 * interval.lower:+.1f} to {100 * interval.upper:+.1f}"
        result[f"p {name}"] = f"p = {mcnemar(fixed, broken).p_mid:.2g}"
    ties = _known(tango(PairedCounts(20, 0, 0, 0)).interval)
    result["ties"] = f"±{100 * ties.upper:.0f} points"
    for n in (50, 200):
        for trials in (1, 3):
            effect = smallest_effect(n, flaky_design(0.25, trials).variance).effect or 0.0
            result[f"visible {n} {trials}"] = f"{100 * effect:.0f} points"
    rate = pass_rate(CASES)
    interval = _known(rate.interval)
    result["honest rate"] = f"{100 * interval.lower:.0f} to {100 * interval.upper:.0f} %"
    passed = sum(p * cases for (p, _), cases in CASES.items())
    naive = wilson(passed, rate.trials)
    result["naive rate"] = f"{100 * naive.lower:.0f} to {100 * naive.upper:.0f} %"
    result["peeking 4"] = f"{_peeking(4):.0%}".replace("%", " %")
    looks = obrien_fleming_bounds([0.25, 0.5, 0.75, 1.0])
    result["limits"] = ", ".join(f"{p:.2g}" for p in looks.nominal_p)
    inflation = sequential_design(looks).inflation
    result["price of looks"] = f"{100 * (inflation - 1):.0f} % more cases"
    result["fixes for 3 broken"] = f"{fewest_fixes(3)} fixed"
    for name, shape in SHAPES.items():
        result[f"gain {name}"] = f"{100 * failing_subset_gain(*shape).estimate:.0f} %"
    found = judged()
    corrected = _known(found.interval)
    result["judge alone"] = f"{100 * found.judge_only:+.1f} points"
    result["corrected"] = f"{100 * (found.estimate or 0.0):+.1f} points"
    result["corrected interval"] = f"{100 * corrected.lower:+.1f} to {100 * corrected.upper:+.1f}"
    room = [1.0 - 0.4 - sum(GAINS[:k]) for k in range(len(GAINS))]
    stop = e_detector(GAINS, eps=0.05, upper=room).stop_round or 0
    result["plateau"] = f"round {stop}"
    return result


def main() -> None:
    """Write every picture and print the facts."""
    folder = Path(__file__).parent / "img"
    folder.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (folder / f"{name}.svg").write_text(draw().svg())
    for name, value in facts().items():
        sys.stdout.write(f"{name}: {value}\n")


if __name__ == "__main__":
    main()

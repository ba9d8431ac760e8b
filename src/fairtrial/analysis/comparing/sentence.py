"""The last line of a comparison: what it means, for a reader who knows no statistics."""

from __future__ import annotations

from fairtrial.model.comparison import Comparison
from fairtrial.model.delta import Delta, Direction

_RAREST = 10_000
_RACED = (
    "a race chose who stays by these very trials, so a gap between them is flattered by the choice"
)
_SELECTED = (
    "one of them ran only the cases that the other failed, and such cases pass more often the next "
    "time with no change at all"
)


def sentence(
    found: Comparison, *, selected: bool = False, raced: bool = False, unjudged: str | None = None
) -> str:
    """Return what a comparison means.

    Args:
        found: The comparison; its own sentence is not read.
        selected: The cases, or the sides themselves, were chosen by what is compared.
        raced: It was a race that chose, not the failures of a side.
        unjudged: Why a side says nothing about quality; None when both do.
    """
    a, b = found.a.label, found.b.label
    if not found.comparable:
        return f"No verdict: {_why_nothing(found)}."
    if unjudged is not None or selected:
        why = _RACED if raced else _SELECTED
        if unjudged is not None:
            why = f"{unjudged}, so a gap says nothing about quality"
        return f"No verdict on {b} against {a}: {why}."
    delta = found.delta
    if delta.estimate is None or delta.clusters < 2:
        where = ", all in one cluster" if delta.n > 1 else ""
        return (
            f"Too little to tell: {b} and {a} share {_cases(delta)} with a verdict{where}, "
            "and that proves nothing."
        )
    if delta.lower is None or delta.upper is None:
        gap = "none" if delta.estimate == 0.0 else _signed(delta.estimate)
        return (
            f"Not decided: the gap between {b} and {a} is the same in {_cases(delta)} ({gap}), and "
            "the interval that was asked for says nothing of such cases; another one does."
        )
    if delta.verdict is Direction.INCONCLUSIVE:
        return _undecided(found, (delta.estimate, delta.lower, delta.upper))
    return (
        f"{b} is {delta.verdict.value} than {a}: it passes {_points(delta.estimate)} "
        f"{'more' if delta.estimate > 0 else 'less'} ({_percent(delta.a)} → {_percent(delta.b)}), "
        f"and luck alone makes a gap like this {_how_often(delta.p)}."
    )


def _why_nothing(found: Comparison) -> str:
    if found.problems:
        return found.problems[0].what
    return "no case has a verdict on both sides"


def _undecided(found: Comparison, numbers: tuple[float, float, float]) -> str:
    a, b = found.a.label, found.b.label
    estimate, lower, upper = numbers
    if estimate == 0.0:
        head = f"No difference seen: {b} passes as often as {a}"
    else:
        direction = "more" if estimate > 0 else "less"
        head = (
            f"Not decided: {b} passes {_points(estimate)} {direction} than {a}, but it may be luck"
        )
    span = f"the true gap lies somewhere from {_signed(lower)} to {_signed(upper)}"
    effect = found.smallest.effect
    if effect is None:
        return f"{head}; {span}."
    return (
        f"{head}; {span}. With {_cases(found.delta)} only a gap of {_points(effect)} or more would "
        "reliably show: run more cases or trials to see a smaller one."
    )


def _cases(delta: Delta) -> str:
    return f"{delta.n:,} {'case' if delta.n == 1 else 'cases'}"


def _points(share: float) -> str:
    return f"{abs(100 * share):.1f} points"


def _signed(share: float) -> str:
    if round(100 * share, 1) == 0.0:
        return "none"
    return f"{_points(share)} {'better' if share > 0 else 'worse'}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _how_often(p: float | None) -> str:
    if p is None or p * _RAREST < 1.0:
        return f"less than once in {_RAREST:,} comparisons"
    return f"about once in {round(1 / p):,} comparisons"

"""A race as a table: who stayed in each round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from fairtrial.cli.render.lines import line, table
from fairtrial.cli.render.words import counted, percent
from fairtrial.model.json import Json
from fairtrial.model.wording import excerpt

BAR = 12
DRAWN = 4
"""Rounds that have room for bars."""
SHOWN = 16
"""Configurations that the table shows."""
LONGEST = 40
"""Characters of a configuration's name: rounds are to stand beside it."""
MISSING = 0.05
"""Share of cases without a verdict from which on it is told."""


def render_race(facts: Mapping[str, Json], console: Console) -> None:
    """Print each configuration's pass rate by round, until it is out; the winner first."""
    rounds: Sequence[Mapping[str, Json]] = facts["rounds"]
    if not rounds:
        return
    heads = [f"Round {one['round']}, {counted(one['cases'], 'case')}" for one in rounds]
    names = _by_place(rounds)
    bars = len(rounds) <= DRAWN
    rows = [
        (_name(name, facts), *(_cell(one, name, bars=bars) for one in rounds))
        for name in names[:SHOWN]
    ]
    table(console, ("Configuration", *heads), rows)
    if len(names) > SHOWN:
        line(console, f"and {len(names) - SHOWN:,} more, which were out earlier (--json)", "dim")
    _unmeasured(rounds, console)
    line(console, "Rates in a race are flattered by the choice; none of them is an effect.", "dim")


def _name(name: str, facts: Mapping[str, Json]) -> str:
    shown = excerpt(name, LONGEST)
    return f"{shown} (start)" if name == facts["start"] != "start" else shown


def _unmeasured(rounds: Sequence[Mapping[str, Json]], console: Console) -> None:
    """Tell which configurations lack verdicts: they were raced on fewer cases than the others."""
    lacking: dict[str, tuple[int, int]] = {}
    for one in rounds:
        # A race on record from before has no counts.
        for name, decided in one.get("decided", {}).items():
            lacking[name] = (one["cases"] - decided, one["cases"])
    for name, (missing, cases) in lacking.items():
        if missing > MISSING * cases:
            text = f"{excerpt(name, LONGEST)} has no verdict on {missing:,} of its {cases:,} cases"
            line(console, f"{text}: see why before you trust this race", "yellow")


def _by_place(rounds: Sequence[Mapping[str, Json]]) -> Sequence[str]:
    """Return the configurations: the longer in the race the earlier, then by the last rate."""
    last: dict[str, tuple[int, float]] = {}
    for number, one in enumerate(rounds):
        for name, rate in one["rates"].items():
            stayed = number + (name in one["kept"])
            last[name] = (-stayed, -1.0 * (-1.0 if rate is None else rate))
    return sorted(last, key=lambda name: last[name])


def _cell(one: Mapping[str, Json], name: str, *, bars: bool) -> str:
    if name not in one["rates"]:
        return ""
    rate = one["rates"][name]
    bar = "" if rate is None else "█" * round(BAR * rate)
    mark = "▸" if name in one["kept"] else "out" if bars else "✗"
    return f"{percent(rate):>6}  {bar:<{BAR}}  {mark}" if bars else f"{percent(rate):>6} {mark}"

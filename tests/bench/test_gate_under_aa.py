"""The table of docs/reference/gate.md is what the simulation prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bench.gate_under_aa import CASES, SCENARIOS, SUITES, TRIALS, ship_rate, table

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "gate.md").read_text(encoding="utf-8")
RUNS = 2_000


def documented(change: str, suite: str, trials: int) -> list[str]:
    found = re.search(
        rf"^\| {re.escape(change)} \| {suite} \| {trials} \| (.*) \|$", PAGE, re.MULTILINE
    )
    assert found
    return found[1].split(" | ")


@pytest.mark.parametrize(("suite", "trials"), [("crisp", 1), ("noisy", 3)])
def test_a_cell_of_the_table_is_what_the_simulation_says(suite: str, trials: int) -> None:
    rate = ship_rate(suite, CASES[0], trials, SCENARIOS[0], RUNS)
    assert documented("no change", suite, trials)[0] == f"{100 * rate:.1f} %"


@pytest.mark.slow
def test_the_whole_table_is_what_the_simulation_prints() -> None:
    assert table(RUNS) in PAGE


def test_an_unchanged_agent_rarely_ships() -> None:
    for suite in SUITES:
        for trials in TRIALS:
            rates = [
                float(cell.removesuffix(" %")) for cell in documented("no change", suite, trials)
            ]
            assert max(rates) <= 6.0

"""The cells of a matrix as text: a table against the baseline, and the best of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from fairtrial.app.reports.plan import PlannedCell
from fairtrial.cli.render.lines import line, section, table
from fairtrial.cli.render.words import counted, money, percent
from fairtrial.model.json import Json

_VERDICTS = {"better": "better", "worse": "worse", "inconclusive": "inconclusive"}


def render_matrix(found: Mapping[str, Any], console: Console) -> None:
    """Print each cell beside the baseline."""
    cells = found["cells"]
    copied = any(cell["copied"] for cell in cells)
    costs = any(cell["cost_usd"] is not None or cell["saved_usd"] is not None for cell in cells)
    section(console, f"Cells against {found['baseline']}")
    columns = ["Cell", ">Passed", ">Δ", ">from", ">to", ">Holm p", ""]
    columns[-1:-1] = [*([">Cost"] if costs else []), *([">Copied"] if copied else [])]
    compared = any(cell["delta"] is not None for cell in cells)
    if not compared:
        columns[2:6] = []
    rows = []
    for cell in cells:
        extra = [money(_cost(cell))] if costs else []
        extra += [f"{cell['copied']:,}"] if copied else []
        change = _delta(cell) if compared else []
        rows.append([cell["cell"], percent(cell["pass_rate"]["estimate"]), *change, *extra])
        rows[-1].append(_VERDICTS[cell["delta"]["verdict"]] if cell["delta"] else "")
        if cell["cell"] == found["baseline"]:
            rows[-1][-1] = "baseline"
    table(console, columns, rows)
    n = len(cells) - 1
    several = f"intervals hold together over {n} comparisons (Bonferroni), p is Holm's"
    one = "one comparison: nothing had to be adjusted"
    if compared:
        line(console, f"  {100 * found['level']:g} % intervals; {several if n > 1 else one}", "dim")
    else:
        line(console, "  by most trials of each case; no interval, and no comparison", "dim")
    saved = [cell["saved_usd"] for cell in cells if cell["saved_usd"] is not None]
    if copied:
        total = sum(cell["copied"] for cell in cells)
        worth = f", which saved {money(sum(saved))}" if saved else ""
        line(console, f"  {counted(total, 'trial')} copied from earlier experiments{worth}", "dim")
    line(console, found["note"], "bold")


def render_planned(cells: tuple[PlannedCell, ...], console: Console) -> None:
    """Print the cells that would run, and what each changes."""
    section(console, f"{len(cells)} cells; the first is the baseline")
    rows = [
        (
            cell.cell,
            _changes(cell.changes),
            f"{cell.due - cell.copied:,}",
            f"{cell.copied:,}",
        )
        for cell in cells
    ]
    table(console, ("Cell", "Changes", ">To run", ">To copy"), rows)


def _delta(cell: Mapping[str, Any]) -> list[str]:
    delta = cell["delta"]
    if delta is None:
        return ["", "", "", ""]
    interval = delta["ci"]
    ends = ["–", "–"]
    if interval is not None:
        ends = [f"{100 * interval[end]:+.1f}%" for end in ("lower", "upper")]
    estimate = delta["estimate"]
    p = delta["p_adjusted"]
    return [
        "–" if estimate is None else f"{100 * estimate:+.1f}%",
        *ends,
        "–" if p is None else f"{p:.2g}",
    ]


def _cost(cell: Mapping[str, Any]) -> float | None:
    """Return what the trials of a cell cost, wherever they were paid for."""
    known = [cost for cost in (cell["cost_usd"], cell["saved_usd"]) if cost is not None]
    return sum(known) if known else None


def _changes(changes: Mapping[str, Json]) -> str:
    if not changes:
        return "nothing"
    told = [f"{path} = {json.dumps(value, ensure_ascii=False)}" for path, value in changes.items()]
    return ", ".join(told)

"""The cells of a finished matrix beside its baseline, kept with the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from fairtrial.app.bench import Bench
from fairtrial.app.pass_rates import pass_rate_of, sampled_adaptively
from fairtrial.app.reports.facts import rate_json
from fairtrial.model.experiment import Experiment, ExperimentState, Status
from fairtrial.model.json import Json
from fairtrial.model.wording import excerpt
from fairtrial.ports import EVERY_ROW, RowQuery, TrialFilter

_LONGEST: Final = 60


class _Spent(NamedTuple):
    """What the trials of a cell cost, and how many were copied."""

    cost_usd: float | None
    saved_usd: float | None
    copied: int


def kept_matrix(bench: Bench, state: ExperimentState) -> Mapping[str, Json] | None:
    """Return what was found when the run ended; None for a run without cells, or not ended.

    A run that was killed between its last trial and its reading is read now.
    """
    if not state.experiment.spec.get("cells"):
        return None
    found: Mapping[str, Json] | None = bench.store.settings.get(_key(state))
    return read_matrix(bench, state) if found is None else found


def read_matrix(bench: Bench, state: ExperimentState) -> Mapping[str, Json] | None:
    """Compare the cells of a finished run with its baseline, and keep what is found.

    Raises:
        StoreError: the store cannot be read or written.
    """
    if not state.experiment.spec.get("cells") or state.status is not Status.FINISHED:
        return None
    found = _read(bench, state)
    bench.store.settings.set(_key(state), found, bench.clock.now())
    return found


def _key(state: ExperimentState) -> str:
    return f"matrix:{state.experiment.id}"


def _read(bench: Bench, state: ExperimentState) -> dict[str, Json]:
    # Only a finished matrix needs numpy.
    from fairtrial.analysis.arms import compare_arms  # noqa: PLC0415
    from fairtrial.analysis.comparing.comparability import Input  # noqa: PLC0415
    from fairtrial.analysis.comparing.compare import compare  # noqa: PLC0415
    from fairtrial.analysis.comparing.deltas import delta_of  # noqa: PLC0415
    from fairtrial.app.reports.comparison import delta_json  # noqa: PLC0415

    experiment, store = state.experiment, bench.store.experiments
    baseline, *others = experiment.arms
    adaptive = sampled_adaptively(experiment)
    first = Input(state, baseline, baseline)
    cases = {}
    for name in () if adaptive else others:
        rows = store.paired_rows((experiment.id, baseline), (experiment.id, name))
        cases[name] = compare(first, Input(state, name, name), rows).cases
    compared = compare_arms(cases)
    listed = []
    for name in experiment.arms:
        spent = _spent(bench, experiment, name)
        delta = None
        if name in compared:
            one = compared[name]
            delta = delta_json(delta_of(cases[name], one.comparison, one.verdict, one.p_adjusted))
        listed.append(
            {
                "cell": name,
                "changes": dict(experiment.spec["cells"][name]),
                "pass_rate": rate_json(pass_rate_of(store, experiment, name)),
                "delta": delta,
                "cost_usd": spent.cost_usd,
                "copied": spent.copied,
                "saved_usd": spent.saved_usd,
            }
        )
    best, note = _best(listed, adaptive=adaptive)
    return {"baseline": baseline, "level": 0.95, "cells": listed, "best": best, "note": note}


def _spent(bench: Bench, experiment: Experiment, arm: str) -> _Spent:
    """Return what a cell's trials cost here, and what the copied ones among them had cost."""
    store = bench.store.experiments
    rows = store.rows(experiment.id, RowQuery(limit=EVERY_ROW, arm=arm))
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    cost = sum(costs) if costs else None
    if arm not in experiment.spec.get("reuse", {}).get("cells", ()):
        return _Spent(cost, None, 0)
    trials = store.trials(experiment.id, TrialFilter(arm=arm))
    copied = [trial.copied for trial in trials if trial.copied is not None]
    saved = [one.cost_usd for one in copied if one.cost_usd is not None]
    return _Spent(cost, sum(saved) if saved else None, len(copied))


def _best(cells: list[dict[str, Any]], *, adaptive: bool) -> tuple[str | None, str]:
    """Return the cell with the highest pass rate, and what to think of it."""
    known = [cell for cell in cells if cell["pass_rate"]["estimate"] is not None]
    if not known:
        return None, "No cell has a pass rate."
    top = max(cell["pass_rate"]["estimate"] for cell in known)
    alike = [cell for cell in known if cell["pass_rate"]["estimate"] == top]
    if cells[0] in alike:
        return cells[0]["cell"], "No cell has a higher pass rate than the baseline."
    best = alike[0]
    name = excerpt(best["cell"], _LONGEST)
    tie = f", the first of {len(alike)} with that rate" if len(alike) > 1 else ""
    said = f"{name} has the highest pass rate of {len(cells)} cells{tie}"
    if adaptive:
        return best["cell"], (
            f"{said}; adaptive samples compare no cells, so that may be luck alone: run it against "
            "the baseline with a fixed number of --trials."
        )
    n_others = len(cells) - 1
    if best["delta"]["verdict"] == "better":
        after = (
            "better than the baseline also after allowing for the number of cells; but it was "
            "chosen by these very numbers, so expect less on fresh cases"
            if n_others > 1
            else "better than the baseline"
        )
        return best["cell"], f"{said}: {after}."
    return best["cell"], (
        f"{said}, but no more than the best of {len(cells)} can have by luck alone: hold, or run "
        "it against the baseline on fresh cases."
    )

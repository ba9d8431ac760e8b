"""What came of a replay: read from its trials, and kept once it has ended."""

from __future__ import annotations

from dataclasses import asdict

import msgspec

from fairtrial.analysis.replaying import replayed_arms
from fairtrial.app.bench import Bench
from fairtrial.model.experiment import ExperimentState, Status
from fairtrial.model.recorded_call import CallQuery
from fairtrial.model.replay import ReplayReading

NOTHING_RECORDED = (
    "no model call was recorded: what the task runs does not call through ANTHROPIC_BASE_URL or "
    "OPENAI_BASE_URL"
)


def replay_reading(bench: Bench, state: ExperimentState) -> ReplayReading | None:
    """Return what came of a replay; None for another experiment.

    Raises:
        StoreError: the store cannot be read or written.
    """
    experiment = state.experiment
    calls = experiment.spec.get("calls") or {}
    source, control = calls.get("replay"), calls.get("control")
    if source is None:
        return None if control is None else ReplayReading(None, None, None, control, ())
    key = f"replay:{experiment.id}"
    if state.status is Status.FINISHED:
        kept = bench.store.settings.get(key)
        if kept is not None and kept["recorded"] == state.totals.recorded:
            return msgspec.convert(kept["reading"], ReplayReading)
    reading = ReplayReading(
        source["experiment"],
        source["arm"],
        source["until"],
        bool(control),
        replayed_arms(bench.store.experiments.trials(experiment.id), experiment.arms),
    )
    if state.status is Status.FINISHED:
        found = {"recorded": state.totals.recorded, "reading": asdict(reading)}
        bench.store.settings.set(key, found, bench.clock.now())
    return reading


def recording_note(bench: Bench, state: ExperimentState) -> str | None:
    """Return a line about a recorded run that recorded nothing; None when it did, or is none."""
    calls = state.experiment.spec.get("calls") or {}
    arms = (state.experiment.spec.get("arms") or {}).values()
    if all(task.get("kind") == "agent" and task.get("agent") == "command" for task in arms):
        # Recording is part of such a task; nobody asked for it, and it may ask no model.
        return None
    if not calls.get("record") or calls.get("replay") or not state.totals.recorded:
        return None
    found = bench.store.calls.newest(CallQuery(experiment_id=state.experiment.id, limit=1))
    return None if found else NOTHING_RECORDED

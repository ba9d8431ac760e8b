"""What took a look at all rows of large experiments, kept until one of them changes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from fairtrial.app.bench import Bench
from fairtrial.model.errors import StoreError
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.json import Json, content_hash


def ground_of(*states: ExperimentState | None, **facts: Json) -> str:
    """Return a hash of what a kept fact rests on: it changes with every trial on record."""
    stands = [None if one is None else [*standing_of(one), repr(one.totals)] for one in states]
    return content_hash({"states": stands, "facts": facts})


def standing_of(state: ExperimentState) -> tuple[str, str, str]:
    """Return what changes with whatever is recorded of an experiment, and with how it ended."""
    return state.experiment.id, state.status.value, state.heartbeat_at.isoformat()


def looked_up(bench: Bench, key: str, ground: str) -> Json:
    """Return a fact that was kept and still holds; None when there is none."""
    found = bench.store.settings.get(key)
    return found["fact"] if isinstance(found, dict) and found.get("ground") == ground else None


def kept(bench: Bench, key: str, ground: str, find: Callable[[], Json]) -> Json:
    """Return a fact that was kept, or else find and keep it."""
    fact = looked_up(bench, key, ground)
    if fact is None:
        fact = find()
        with suppress(StoreError):  # it is found again where nothing can be written
            bench.store.settings.set(key, {"ground": ground, "fact": fact}, bench.clock.now())
    return fact

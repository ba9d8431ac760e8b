"""One trial after the other, handed on in groups, and none lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest
from tests.engine.conftest import FakeClock

from fairtrial.executors.one_by_one import HELD_S, OneByOneExecutor
from fairtrial.model.case import Case
from fairtrial.model.trial import Trial
from fairtrial.ports import Lease

LEASES = [Lease(Case(f"c{n}", n), arm, 1) for n in range(3) for arm in "ab"]


def drain(seconds: float, see: Callable[[Trial], None] = lambda _: None) -> list[str]:
    """Run all leases, each taking so long, and return what happened in its order."""
    happened: list[str] = []
    clock = FakeClock()

    async def warm() -> None:
        happened.append("warm")

    async def work(lease: Lease) -> Trial:
        happened.append(f"run {lease.case.id}{lease.arm}")
        await clock.sleep(seconds)
        return cast("Trial", lease)

    async def sink(trial: Any) -> None:
        happened.append(f"kept {trial.case.id}{trial.arm}")

    async def main() -> None:
        try:
            await OneByOneExecutor(clock, warm, see).drain(iter(LEASES), work, sink)
        except ValueError:
            happened.append("stopped")

    asyncio.run(main())
    return happened


def test_long_trials_are_kept_as_they_end() -> None:
    happened = drain(2 * HELD_S)
    assert happened[:5] == ["warm", "run c0a", "kept c0a", "run c0b", "kept c0b"]
    assert len(happened) == 13


def test_short_trials_are_kept_together_and_none_is_lost() -> None:
    happened = drain(0.4 * HELD_S)
    assert happened[1:7] == ["run c0a", "run c0b", "run c1a", "kept c0a", "kept c0b", "kept c1a"]
    assert [word for word in happened if word.startswith("kept")] == [
        f"kept {lease.case.id}{lease.arm}" for lease in LEASES
    ]


def test_what_ended_is_kept_when_something_stops_the_run() -> None:
    def stop(trial: Any) -> None:
        if trial.case.id == "c1":
            raise ValueError

    happened = drain(0.01 * HELD_S, stop)
    assert happened[-4:] == ["kept c0a", "kept c0b", "kept c1a", "stopped"]


@pytest.mark.parametrize("seconds", [0.01 * HELD_S, 2 * HELD_S])
def test_trials_never_overlap(seconds: float) -> None:
    running = [word for word in drain(seconds) if word.startswith("run")]
    assert running == [f"run {lease.case.id}{lease.arm}" for lease in LEASES]

"""The contract of a task, as tests: a kind passes when its subclass of `TaskContract` does."""

# these are tests

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager
from enum import Enum
from pathlib import Path

import pytest

from fairtrial.model.case import Case
from fairtrial.model.errors import TaskError, TrialTimeout
from fairtrial.model.json import Json
from fairtrial.model.task import TaskCall
from fairtrial.ports import Task

_CANARY = "canary-0d4f1b"
_INPUTS: tuple[Json, ...] = (
    "text",
    "naïve ☃ 🦀\nsecond line",
    "",
    {"question": "6 × 7?", "parts": [1, 2.5, None, True]},
    [],
    42,
    "x" * 200_000,
)


class Behaviour(Enum):
    """What a task under test does."""

    ECHO = "echo"
    """Its output is the case input, as a JSON value."""
    REVEAL = "reveal"
    """Its output is all it was told: input, call, environment, request."""
    LINGER = "linger"
    """It appends a byte to the file named by the case input every few milliseconds, for ever."""
    FAIL = "fail"
    """It fails in the way of its kind, with `broken on purpose` in the message."""


class TaskContract(ABC):
    """Subclass it in a test module, name the class `Test…`, and implement `task`."""

    can_stop = True
    """False for a kind that says in its documentation that it cannot stop a call: it must still
    answer in time."""

    @abstractmethod
    def task(self, behaviour: Behaviour, folder: Path) -> AbstractAsyncContextManager[Task]:
        """Return a context that gives an open task, and closes it.

        Args:
            behaviour: What the task does.
            folder: An empty folder for what it needs.
        """

    @pytest.mark.parametrize("case_input", _INPUTS, ids=lambda value: repr(value)[:20])
    def test_the_output_belongs_to_the_case(self, case_input: Json, tmp_path: Path) -> None:
        """Any JSON value goes in and comes out."""

        async def main() -> None:
            async with self.task(Behaviour.ECHO, tmp_path) as task:
                result = await task.run(call_of(case_input))
                assert result.error is None
                assert result.output == case_input

        asyncio.run(main())

    def test_expected_never_reaches_the_task(self, tmp_path: Path) -> None:
        """Nothing a task is told holds what is expected of it."""

        async def main() -> None:
            async with self.task(Behaviour.REVEAL, tmp_path) as task:
                result = await task.run(call_of("the input", expected=_CANARY))
                assert "the input" in str(result.output)
                assert _CANARY not in str(result)

        asyncio.run(main())

    def test_calls_at_once_do_not_mix(self, tmp_path: Path) -> None:
        """Each of many concurrent calls gets its own answer."""

        async def main() -> None:
            async with self.task(Behaviour.ECHO, tmp_path) as task:
                inputs = [f"input {n}" for n in range(40)]
                results = await asyncio.gather(*(task.run(call_of(text)) for text in inputs))
                assert [result.output for result in results] == inputs

        asyncio.run(main())

    def test_a_failure_is_told(self, tmp_path: Path) -> None:
        """A task that fails raises `TaskError` or returns the error, and the next call works."""

        async def main() -> None:
            async with self.task(Behaviour.FAIL, tmp_path) as task:
                for _ in range(2):
                    try:
                        reason = (await task.run(call_of("x"))).error
                    except TaskError as error:
                        reason = str(error)
                    assert reason is not None
                    assert "broken on purpose" in reason

        asyncio.run(main())

    def test_the_time_limit_ends_a_call(self, tmp_path: Path) -> None:
        """A call over its limit ends soon, says so, and leaves nothing."""
        beat = tmp_path / "beat"

        async def main() -> None:
            async with self.task(Behaviour.LINGER, tmp_path) as task:
                start = time.monotonic()
                try:
                    timed_out = (await task.run(call_of(str(beat), limit_s=0.7))).timed_out
                except TrialTimeout:
                    timed_out = True
                assert timed_out
                assert 0.6 < time.monotonic() - start < 5
                await self._check_stopped(beat)

        asyncio.run(main())

    def test_a_cancel_leaves_nothing(self, tmp_path: Path) -> None:
        """When a cancelled call has ended, what it started has ended."""
        beat = tmp_path / "beat"

        async def main() -> None:
            async with self.task(Behaviour.LINGER, tmp_path) as task:
                running = asyncio.ensure_future(task.run(call_of(str(beat), limit_s=60)))
                while not beat.exists():
                    await asyncio.sleep(0.01)
                    assert not running.done()
                running.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await running
                await self._check_stopped(beat)

        asyncio.run(main())

    def test_close_is_safe_to_repeat(self, tmp_path: Path) -> None:
        """A second close changes nothing."""

        async def main() -> None:
            async with self.task(Behaviour.ECHO, tmp_path) as task:
                await task.run(call_of("x"))
                await task.close()
                await task.close()

        asyncio.run(main())

    async def _check_stopped(self, beat: Path) -> None:
        if not self.can_stop:
            return
        await asyncio.sleep(0.1)  # what is on its way, e.g. over a socket, may arrive
        size = _size(beat)
        await asyncio.sleep(0.2)
        assert _size(beat) == size


def call_of(
    case_input: Json, *, expected: Json = None, limit_s: float | None = 30.0, case_id: str = "c1"
) -> TaskCall:
    """Return a call of the first trial of a case."""
    return TaskCall(Case(case_id, case_input, expected), "main", 1, 1, 7, limit_s)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0

"""Calls of user functions: what comes back, what is blamed, and what is given up on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fairtrial.functions.calling import LateError, RaisedError, UserFunction
from fairtrial.model.errors import InfraError, TaskError


def _call(
    target: Callable[..., Any], *arguments: Any, limit_s: float | None = 5, **named: Any
) -> Any:
    async def main() -> Any:
        function = UserFunction.of(target)
        try:
            return await function.call(limit_s, *arguments, **named)
        finally:
            function.close()

    return asyncio.run(main())


async def _later(value: int) -> int:
    await asyncio.sleep(0)
    return value


def _handed(value: int) -> Awaitable[int]:
    return _later(value)


class _Async:
    async def __call__(self, value: int) -> int:
        return await _later(value)


@pytest.mark.parametrize("target", [lambda value: value, _later, _handed, _Async(), abs])
def test_what_a_function_returns(target: Callable[..., Any]) -> None:
    assert _call(target, 3) == 3


def test_arguments_may_have_any_name() -> None:
    assert _call(dict, limit_s=None, self=1, bound=2) == {"self": 1, "bound": 2}


@pytest.mark.parametrize(
    "error",
    [
        ValueError,
        SystemExit,
        KeyboardInterrupt,
        GeneratorExit,
        StopIteration,
        asyncio.CancelledError,
    ],
)
def test_whatever_a_function_raises_is_blamed(error: type[BaseException]) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(RaisedError, match=rf"{error.__name__} \(.*test_calling.py:\d+ in fail\)"):
        _call(fail)


@pytest.mark.parametrize(
    "error", [ValueError, SystemExit, KeyboardInterrupt, asyncio.CancelledError]
)
def test_whatever_an_async_function_raises_is_blamed(error: type[BaseException]) -> None:
    async def fail() -> None:
        raise error

    with pytest.raises(RaisedError, match=rf"{error.__name__} \(.*in fail\)"):
        _call(fail)


async def _cancels_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(5)


def _hands_a_cancel() -> Awaitable[None]:
    return _cancels_itself()


@pytest.mark.parametrize("target", [_cancels_itself, _hands_a_cancel])
def test_a_function_that_cancels_its_task_ends_only_its_own_call(
    target: Callable[..., Any],
) -> None:
    async def main() -> bool:
        function = UserFunction.of(target)
        with pytest.raises(RaisedError, match="CancelledError"):
            await function.call(5)
        function.close()
        task = asyncio.current_task()
        return task is not None and not task.cancelling()

    assert asyncio.run(main())


async def _for_ever() -> None:
    await asyncio.Event().wait()


def test_a_cancel_from_outside_ends_the_call() -> None:
    async def main() -> None:
        call = asyncio.ensure_future(UserFunction.of(_for_ever).call(None))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(main())


def test_a_trial_problem_is_what_the_function_says_it_is() -> None:
    def fail() -> None:
        raise TaskError("mine")

    with pytest.raises(TaskError, match=r"^mine$"):
        _call(fail)


async def _stubborn() -> int:
    try:
        await asyncio.sleep(5)
    except asyncio.CancelledError:
        return 1
    return 0


@pytest.mark.parametrize("target", [lambda: time.sleep(0.3), lambda: asyncio.sleep(5), _stubborn])
def test_late(target: Callable[..., Any]) -> None:
    start = time.monotonic()
    with pytest.raises(LateError):
        _call(target, limit_s=0.05)
    assert time.monotonic() - start < 3


@pytest.mark.parametrize("target", [lambda: time.sleep(0.1), lambda: asyncio.sleep(5)])
def test_a_cancel_from_outside_stays_one(target: Callable[..., Any]) -> None:
    async def main() -> None:
        function = UserFunction.of(target)
        running = asyncio.ensure_future(function.call(5))
        await asyncio.sleep(0.02)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        function.close()

    asyncio.run(main())


def test_no_more_threads_is_a_failed_setup(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)
    with pytest.raises(InfraError, match="can't start new thread; 0 earlier calls") as caught:
        _call(len, "x")
    assert caught.value.kind == "setup"

"""Calls of a user's function: whatever it does ends only its own call."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from fairtrial.functions.blame import blame
from fairtrial.functions.threads import CallThreads, Outcome
from fairtrial.model.errors import InfraError, TrialProblem


class LateError(Exception):
    """The function was not done within its limit."""


class RaisedError(Exception):
    """The function raised an exception, which is the cause; `str()` blames it."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(blame(error))
        self.error = error


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function to call: on the event loop when it is async, else in a thread.

    Attributes:
        target: The function itself.
        is_async: It is a coroutine function, or an object with such a `__call__`.
        threads: The threads of blocking calls.
    """

    target: Callable[..., Any]
    is_async: bool
    threads: CallThreads

    @classmethod
    def of(cls, target: Callable[..., Any]) -> UserFunction:
        """Return a function ready to be called, with threads of its own."""
        is_async = inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(
            getattr(target, "__call__", None)  # noqa: B004  # the method itself, not a test
        )
        return cls(target, is_async, CallThreads())

    async def call(self, limit_s: float | None, /, *arguments: Any, **named: Any) -> Any:
        """Return what the function returns.

        A blocking function over its limit cannot be stopped: its thread is left behind.

        Args:
            limit_s: Seconds it may take; None for no limit.
            arguments: Its positional arguments.
            named: Its keyword arguments.

        Raises:
            LateError: it was not done in time.
            RaisedError: it raised something, `SystemExit` and the like included.
            TrialProblem: it raised one, to say itself what kind of problem it has; or the system
                gives no more threads.
        """
        bound = partial(self.target, *arguments, **named)
        scope = asyncio.timeout(limit_s)
        try:
            async with scope:
                value = await (_apart(bound) if self.is_async else self._in_thread(bound))
        except (TrialProblem, RaisedError, GeneratorExit):
            raise
        except asyncio.CancelledError as error:
            if _cancelled_from_outside():
                raise
            raise RaisedError(error) from error
        except BaseException as error:
            if scope.expired():
                raise LateError from None
            raise RaisedError(error) from error
        if scope.expired():  # it caught the cancel and went on
            raise LateError
        return value

    def close(self) -> None:
        """Let the threads end."""
        self.threads.close()

    async def _in_thread(self, bound: Callable[[], Any]) -> Any:
        try:
            outcome = await self.threads.call(bound)
        except RuntimeError as error:
            raise InfraError(
                f"{error}; {self.threads.abandoned} earlier calls over their limit still run",
                kind="setup",
            ) from error
        if isinstance(outcome.error, TrialProblem):
            raise outcome.error
        if outcome.error is not None:  # as it is, a StopIteration could not leave a coroutine
            raise RaisedError(outcome.error) from outcome.error
        return (
            await _apart(lambda: outcome.value)
            if inspect.isawaitable(outcome.value)
            else outcome.value
        )


async def _apart(call: Callable[[], Awaitable[Any]]) -> Any:
    """Await in a task of its own: one that cancels its task must not cancel the whole slot."""
    outcome = await asyncio.get_running_loop().create_task(_outcome(call))
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


async def _outcome(call: Callable[[], Awaitable[Any]]) -> Outcome:
    try:
        return Outcome(await call())
    except (asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001  # a SystemExit would leave the event loop
        return Outcome(error=error)


def _cancelled_from_outside() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0

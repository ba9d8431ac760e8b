"""A Python function, called with the case input in fairtrial's own process."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from fairtrial.model.errors import InfraError, TaskError, TrialProblem, TrialTimeout
from fairtrial.model.json import Json
from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.ports import Surroundings
from fairtrial.tasks.function import Function, PassCall, blame, find_function
from fairtrial.tasks.plain_json import NotJsonError, plain_json
from fairtrial.tasks.threads import CallThreads
from fairtrial.tasks.wording import over_limit


@dataclass(frozen=True)
class Options:
    """The options of a python task."""

    function: str
    """The function, as `module:function`; the module is found in the spec's folder, the current
    folder or the installed packages. It gets the case input, and the call when it has a second
    parameter or one named `call`; it may be async."""
    arguments: Mapping[str, Json] = field(default_factory=dict)
    """Keyword arguments it is called with as well, e.g. what differs between two arms."""


@dataclass(frozen=True, slots=True)
class PythonTask:
    """Calls a function for each case: a coroutine function on the loop, any other in a thread.

    Attributes:
        function: The function and how to call it.
        arguments: Keyword arguments of every call.
        threads: The threads of blocking calls.
    """

    function: Function
    arguments: Mapping[str, Json]
    threads: CallThreads = field(default_factory=CallThreads)

    async def open(self) -> None:
        """Do nothing: threads start when calls need them."""

    async def run(self, call: TaskCall) -> TaskResult:
        """Call the function with one case.

        A blocking function over its time limit cannot be stopped: its thread is left behind.
        """
        bound = self._bound(call)
        scope = asyncio.timeout(call.time_limit_s)
        try:
            async with scope:
                value = await (bound() if self.function.is_async else self._in_thread(bound))
        except (TrialProblem, GeneratorExit):
            raise  # the function may say itself what kind of problem it has
        except asyncio.CancelledError as error:
            if _cancelled_from_outside():
                raise
            raise TaskError(blame(error)) from error
        except BaseException as error:  # SystemExit of a task must not end the run
            if scope.expired():
                raise _over(call) from None
            raise TaskError(blame(error)) from error
        if scope.expired():
            raise _over(call)
        return _result(value)

    async def close(self) -> None:
        """Let the threads end."""
        self.threads.close()

    def _bound(self, call: TaskCall) -> Callable[[], Any]:
        # Copies: a function that changes its input must not change the next trial's.
        case_input = plain_json(call.case.input)
        arguments: dict[str, Any] = {k: plain_json(v) for k, v in self.arguments.items()}
        function = self.function
        if function.pass_call is PassCall.NOT:
            return partial(function.target, case_input, **arguments)
        metadata = plain_json(call.case.metadata)
        shown = replace(
            call, case=replace(call.case, input=case_input, expected=None, metadata=metadata)
        )
        if function.pass_call is PassCall.SECOND:
            return partial(function.target, case_input, shown, **arguments)
        return partial(function.target, case_input, **{function.call_name: shown}, **arguments)

    async def _in_thread(self, bound: Callable[[], Any]) -> Any:
        try:
            outcome = await self.threads.call(bound)
        except RuntimeError as error:
            raise InfraError(
                f"{error}; {self.threads.abandoned} earlier calls over their limit still run",
                kind="setup",
            ) from error
        if outcome.error is not None:
            raise outcome.error
        if inspect.isawaitable(outcome.value):
            return await outcome.value
        return outcome.value


def build(options: Options, surroundings: Surroundings, where: str) -> PythonTask:
    """Return the task; its function is imported at once.

    Raises:
        UsageError: it cannot be imported or called.
    """
    folders = (surroundings.base_dir, Path.cwd())
    where = f"{where}, option 'function'"
    function = find_function(options.function, folders, options.arguments, where)
    return PythonTask(function, options.arguments)


def _result(value: Any) -> TaskResult:
    try:
        if isinstance(value, TaskResult):
            return _checked(value)
        return TaskResult(plain_json(value))
    except NotJsonError as error:
        raise TaskError(f"the function's value is not JSON: {error}") from None


def _checked(result: TaskResult) -> TaskResult:
    cost = result.cost_usd
    if cost is not None and not (math.isfinite(cost) and cost >= 0):
        raise TaskError(f"the function's cost_usd is {cost}; it must be finite and at least 0")
    return replace(
        result,
        output=plain_json(result.output),
        metrics=plain_json(result.metrics),
        spans=tuple(plain_json(result.spans)),
    )


def _over(call: TaskCall) -> TrialTimeout:
    return TrialTimeout(over_limit(call.time_limit_s))


def _cancelled_from_outside() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0

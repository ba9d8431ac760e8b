"""A Python function, called with the case input in fairtrial's own process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from msgspec import to_builtins

from fairtrial.functions.blame import blame
from fairtrial.functions.calling import LateError, RaisedError, UserFunction
from fairtrial.functions.loading import load_function
from fairtrial.model.errors import TaskError, TrialTimeout
from fairtrial.model.json import Json
from fairtrial.model.task import TaskCall, TaskResult, Tokens
from fairtrial.model.wording import over_limit
from fairtrial.ports import Surroundings
from fairtrial.tasks.envelope import result_told
from fairtrial.tasks.passing import NOT_PASSED, Passing, way_to_pass
from fairtrial.tasks.plain_json import NotJsonError, plain_json
from fairtrial.tasks.provider_trouble import infra_error_of


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
    """Calls a function for each case.

    Attributes:
        function: The function.
        passing: How it gets the call.
        arguments: Keyword arguments of every call.
        alone: Held by a call that has variables of its own: there is one environment for all.
    """

    function: UserFunction
    passing: Passing
    arguments: Mapping[str, Json]
    alone: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def open(self) -> None:
        """Do nothing: threads start when calls need them."""

    async def run(self, call: TaskCall) -> TaskResult:
        """Call the function with one case."""
        if not call.environ:
            return await self._run(call)
        async with self.alone:
            with _environment(call.environ):
                return await self._run(call)

    async def _run(self, call: TaskCall) -> TaskResult:
        # Copies: a function that changes its input must not change the next trial's.
        case_input, arguments = to_builtins((call.case.input, self.arguments))
        shown = None if self.passing == NOT_PASSED else _shown(call, case_input)
        positional, named = self.passing.arguments(case_input, shown)
        try:
            value = await self.function.call(call.time_limit_s, *positional, **named, **arguments)
        except LateError:
            raise TrialTimeout(over_limit(call.time_limit_s)) from None
        except RaisedError as raised:
            problem = infra_error_of(raised.error, str(raised)) or TaskError(str(raised))
            raise problem from raised.error
        return result_of(value)

    async def close(self) -> None:
        """Let the threads end."""
        self.function.close()


def build(options: Options, surroundings: Surroundings, where: str) -> PythonTask:
    """Return the task; its function is imported at once.

    Raises:
        UsageError: it cannot be imported or called.
    """
    where = f"{where}, option 'function'"
    function = load_function(options.function, surroundings.base_dir, where, surroundings.functions)
    passing = way_to_pass(function, options.arguments, where)
    return PythonTask(function, passing, options.arguments)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables of this process for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _shown(call: TaskCall, case_input: Json) -> TaskCall:
    metadata = to_builtins(dict(call.case.metadata))
    case = replace(call.case, input=case_input, expected=None, metadata=metadata)
    return replace(call, case=case)


def result_of(value: Any) -> TaskResult:
    """Return what a function returned as a result.

    Raises:
        TaskError: it is not JSON.
    """
    try:
        if isinstance(value, TaskResult):
            return _checked(value)
        return TaskResult(plain_json(value))
    except NotJsonError as error:
        raise TaskError(f"the function's value is not JSON: {error}") from None
    except TaskError:
        raise
    except Exception as error:  # a list or a mapping of the user's own runs their code
        raise TaskError(f"the function's value cannot be read: {blame(error)}") from error


def _checked(result: TaskResult) -> TaskResult:
    tokens = result.tokens
    told = {
        "output": result.output,
        "error": result.error,
        "cost_usd": result.cost_usd,
        "tokens": asdict(tokens) if isinstance(tokens, Tokens) else tokens,
        "metrics": result.metrics,
        "spans": result.spans,
    }
    checked = result_told({key: plain_json(value) for key, value in told.items()}, "TaskResult")
    return replace(checked, timed_out=bool(result.timed_out))

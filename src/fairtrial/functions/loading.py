"""A user's function: imported by name, checked before a run, blamed by file and line."""

from __future__ import annotations

import importlib
import inspect
import operator
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

from fairtrial.model.errors import UsageError
from fairtrial.schema.decoding import unknown_name
from fairtrial.tasks.wording import excerpt

_NAME: Final = re.compile(r"(?P<module>[\w.]+):(?P<function>\w+(\.\w+)*)")
_OURS: Final = str(Path(__file__).resolve().parents[1])
_CALL_NAMES: Final = ("call", "context")


class PassCall(Enum):
    """How a function gets the call beside the input."""

    NOT = "not"
    SECOND = "second"
    BY_NAME = "by name"


@dataclass(frozen=True, slots=True)
class Function:
    """A function that can be called with a case.

    Attributes:
        target: The function itself.
        pass_call: How it gets the call.
        call_name: The name of the parameter for the call, when it is passed by name.
        is_async: It is a coroutine function.
    """

    target: Callable[..., Any]
    pass_call: PassCall
    call_name: str
    is_async: bool


def find_function(
    name: str, folders: tuple[Path, ...], arguments: Mapping[str, Any], where: str
) -> Function:
    """Import a function.

    Args:
        name: `module:function`.
        folders: Searched before the rest of `sys.path`, to which they are added for good: the
            function may import more when it runs.
        arguments: Keyword arguments it will be called with beside the input.
        where: For error messages.

    Raises:
        UsageError: there is no such module or function, or it takes other arguments.
    """
    match = _NAME.fullmatch(name)
    if match is None or match["module"].endswith(".py"):
        raise UsageError(f"{name!r} does not name a function", where=where, fix=_name_advice(name))
    for folder in reversed([str(folder.resolve()) for folder in folders]):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    importlib.invalidate_caches()
    module = _import(match["module"], folders, where)
    try:
        target = operator.attrgetter(match["function"])(module)
    except AttributeError:
        known = [key for key, value in vars(module).items() if inspect.isroutine(value)]
        raise UsageError(
            f"module {match['module']!r} has no function {match['function']!r}",
            where=where,
            fix=unknown_name(match["function"], known) if known else None,
        ) from None
    if not callable(target):
        raise UsageError(f"{name!r} is {type(target).__name__}, not a function", where=where)
    pass_call, call_name = _way_to_pass_call(target, name, arguments, where)
    is_async = inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(
        getattr(target, "__call__", None)  # noqa: B004  # the method itself, not a test
    )
    return Function(target, pass_call, call_name, is_async)


def blame(error: BaseException) -> str:
    """Return an exception's class, message and the innermost line of the user's own code."""
    try:
        message = excerpt(str(error), 500) if str(error) else ""
    except Exception:  # noqa: BLE001  # a broken __str__ must not hide which error it was
        message = "(its message cannot be shown)"
    kind = type(error)
    plain = kind.__module__ in ("builtins", "__main__")
    name = kind.__qualname__ if plain else f"{kind.__module__}.{kind.__qualname__}"
    place = _innermost_line(error)
    return name + (f": {message}" if message else "") + (f" ({place})" if place else "")


def _innermost_line(error: BaseException) -> str:
    lines = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith((_OURS, "<frozen"))
    ]
    installed = tuple(
        sysconfig.get_path(part) for part in ("stdlib", "platstdlib", "purelib", "platlib")
    )
    own = [entry for entry in lines if not entry[0].startswith(installed)]
    for file, line in reversed(own or lines):
        return f"{_short(file)}:{line}"
    return ""


def _short(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _import(module: str, folders: tuple[Path, ...], where: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise UsageError(
                f"module {module!r} cannot be imported",
                where=where,
                why=blame(error),
                fix=f"install what {error.name!r} belongs to in fairtrial's environment",
            ) from error
        looked = ", ".join(dict.fromkeys(str(folder.resolve()) for folder in folders))
        raise UsageError(
            f"there is no module {error.name!r}",
            where=where,
            fix=f"put {error.name.split('.')[0]}.py into {looked}, or install it",
        ) from None
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"module {module!r} cannot be imported", where=where, why=blame(error)
        ) from error


def _way_to_pass_call(
    target: Callable[..., Any], name: str, arguments: Mapping[str, Any], where: str
) -> tuple[PassCall, str]:
    try:
        signature = inspect.signature(target)
    except ValueError:
        return PassCall.NOT, ""  # a builtin that does not tell
    for pass_call, call_name in _ways(signature, arguments):
        args = (None, None) if pass_call is PassCall.SECOND else (None,)
        by_name = {call_name: None} if pass_call is PassCall.BY_NAME else {}
        try:
            signature.bind(*args, **by_name, **arguments)
        except TypeError:
            continue
        return pass_call, call_name
    raise UsageError(
        f"{name} cannot be called with {_called_with(arguments)}",
        where=where,
        why=f"its parameters are {signature}",
        fix="its first parameter takes the case input; a second one, or one named 'call', takes "
        "the call; option 'arguments' gives the others by name",
    )


def _ways(
    signature: inspect.Signature, arguments: Mapping[str, Any]
) -> Iterator[tuple[PassCall, str]]:
    parameters = list(signature.parameters.values())
    for parameter in parameters[1:]:
        named = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        if named and parameter.name in _CALL_NAMES and parameter.name not in arguments:
            yield PassCall.BY_NAME, parameter.name
    yield PassCall.NOT, ""
    yield PassCall.SECOND, ""


def _called_with(arguments: Mapping[str, Any]) -> str:
    if not arguments:
        return "the case input"
    return f"the case input and {', '.join(f'{name}=…' for name in arguments)}"


def _name_advice(name: str) -> str:
    stem, _, function = name.partition(":")
    if stem.endswith(".py") and "/" not in stem:
        return f"write {stem.removesuffix('.py')}:{function or 'FUNCTION'}"
    if "/" in stem:
        return "write module:function; modules are found in the spec's folder"
    if ":" not in name and "." in name:
        module, _, function = name.rpartition(".")
        return f"write {module}:{function}"
    return "write module:function"

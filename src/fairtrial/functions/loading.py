"""From `module:function` to a function, with mistakes found before a run."""

from __future__ import annotations

import importlib
import inspect
import operator
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.machinery import PathFinder
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final

from fairtrial.functions.blame import blame
from fairtrial.functions.calling import UserFunction
from fairtrial.model.errors import UsageError
from fairtrial.schema.decoding import unknown_name

_NAME: Final = re.compile(r"(?P<module>[\w.]+):(?P<function>\w+(\.\w+)*)")
_NONE: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType({})


def load_function(
    name: str, base_dir: Path, where: str, given: Mapping[str, Callable[..., Any]] = _NONE
) -> UserFunction:
    """Return a function that was given, or import it.

    Args:
        name: `module:function`, or `module:Class.method`.
        base_dir: The spec's folder. It and the current folder are searched before the rest of
            `sys.path`, to which they are added for good: the function may import more when it runs.
        where: For error messages.
        given: Functions that need no import, by their names.

    Raises:
        UsageError: there is no such module or function.
    """
    if name in given:
        return UserFunction.of(given[name])
    if name.startswith("__main__:") or "<" in name:
        raise UsageError(
            f"{name!r} can only be had in the program that defines it",
            where=where,
            fix="run that program again, e.g. with Eval(…, resume=EXPERIMENT)",
        )
    match = _NAME.fullmatch(name)
    if match is None or match["module"].endswith(".py"):
        raise UsageError(f"{name!r} names no function", where=where, fix=_name_advice(name))
    folders = tuple(dict.fromkeys((str(base_dir.resolve()), str(Path.cwd()))))
    sys.path[:] = [*folders, *(folder for folder in sys.path if folder not in folders)]
    importlib.invalidate_caches()
    _forget_namesake(match["module"].partition(".")[0], folders)
    module = _import(match["module"], folders, where)
    return UserFunction.of(_function_in(module, match["function"], where))


def _forget_namesake(name: str, folders: tuple[str, ...]) -> None:
    """Drop a module of another folder that has the name of one in these: two arms may have one."""
    loaded = getattr(sys.modules.get(name), "__file__", None)
    if loaded is None:
        return
    found = PathFinder.find_spec(name, list(folders))
    if found is not None and found.origin not in (None, loaded):
        for known in [key for key in sys.modules if f"{key}.".startswith(f"{name}.")]:
            del sys.modules[known]


def forget_modules(folders: Iterable[Path]) -> None:
    """Let modules in some folders be read anew when they are next imported; installed ones stay.

    A module that was edited within a second of its last reading would else come from its compiled
    file, so none is written from then on.
    """
    sys.dont_write_bytecode = True
    places = [folder.resolve() for folder in folders]
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is None or name.split(".")[0] in ("fairtrial", "__main__"):
            continue
        path = Path(file)
        if "site-packages" not in path.parts and any(map(path.is_relative_to, places)):
            del sys.modules[name]


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return what a function takes; None for one that does not tell, as some builtins."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def fits(signature: inspect.Signature, /, *arguments: Any, **named: Any) -> bool:
    """Return whether a function with this signature takes such arguments."""
    try:
        signature.bind(*arguments, **named)
    except TypeError:
        return False
    return True


def _function_in(module: ModuleType, name: str, where: str) -> Callable[..., Any]:
    what = f"module {module.__name__!r} has no function {name!r}"
    try:
        function = operator.attrgetter(name)(module)
    except AttributeError:
        known = [key for key, value in vars(module).items() if inspect.isroutine(value)]
        advice = unknown_name(name, known) if known else None
        raise UsageError(what, where=where, fix=advice) from None
    if not callable(function):
        why = f"{name!r} is {type(function).__name__}, not a function"
        raise UsageError(what, where=where, why=why)
    return function  # type: ignore[no-any-return]  # `callable` tells nothing of Any


def _import(module: str, folders: tuple[str, ...], where: str) -> ModuleType:
    what = f"module {module!r} could not be imported"
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            advice = f"install what {error.name!r} belongs to in fairtrial's environment"
            raise UsageError(what, where=where, why=blame(error), fix=advice) from error
        raise UsageError(
            what,
            where=where,
            why=f"there is no module {error.name!r}",
            fix=f"put {error.name.split('.')[0]}.py into {', '.join(folders)}, or install it",
        ) from None
    except (Exception, SystemExit) as error:
        raise UsageError(what, where=where, why=blame(error)) from error


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

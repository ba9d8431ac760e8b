"""Names by which a spec calls functions that only this process has."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Names:
    """Functions under the names that a spec gives them.

    Attributes:
        functions: The functions by name.
    """

    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def add(self, function: Callable[..., Any]) -> str:
        """Return the name of a function: as it would be imported, if it could be."""
        target = getattr(function, "func", function)  # of a partial
        of = target if hasattr(target, "__qualname__") else type(target)
        name = f"{getattr(of, '__module__', None) or 'builtins'}:{of.__qualname__}"
        number = 1
        unique = name
        while self.functions.get(unique, function) is not function:
            number += 1
            unique = f"{name}<{number}>"
        self.functions[unique] = function
        return unique


def source_digest(function: Callable[..., Any]) -> str | None:
    """Return a hash of a function's source: an edited one is another configuration.

    None where Python does not know the source, as at its prompt.
    """
    target = getattr(function, "func", function)
    try:
        source = inspect.getsource(target if inspect.isroutine(target) else type(target))
    except (OSError, TypeError):
        return None
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()

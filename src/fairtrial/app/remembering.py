"""What one process worked out and may need again: a server is asked for the same pages."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Final, TypeVar

_MOST: Final = 20_000
"""Facts that are remembered: small ones, so that they take some megabytes at most."""
_Fact = TypeVar("_Fact")


class Memory:
    """Facts by what they rest on, the latest used; any number of threads may share one.

    A key names all that a fact rests on, so that no fact is ever wrong, and none is taken back.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._facts: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Any:
        """Return the fact under a key; None when there is none."""
        with self._lock:
            fact = self._facts.get(key)
            if fact is not None:
                self._facts.move_to_end(key)
            return fact

    def keep(self, key: Hashable, fact: _Fact) -> _Fact:
        """Remember a fact, and return it."""
        with self._lock:
            self._facts[key] = fact
            self._facts.move_to_end(key)
            while len(self._facts) > self._most:
                self._facts.popitem(last=False)
        return fact

    def of(self, key: Hashable, find: Callable[[], _Fact]) -> _Fact:
        """Return the fact under a key, which is found when it is not remembered."""
        found: _Fact | None = self.get(key)
        return self.keep(key, find()) if found is None else found

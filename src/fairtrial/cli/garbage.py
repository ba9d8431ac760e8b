"""When this process looks for garbage: not while it starts, and not when it ends.

A start makes 150,000 objects, nearly all of them for good. To look for garbage among them again
and again, and once more at the exit, took a third of a short command.
"""

from __future__ import annotations

import gc

# A comparison of 100,000 rows makes 300,000 more, which a look would walk through for nothing.
_WHILE_STARTING = (1_000_000, 50, 100)
_AS_USUAL = (700, 10, 10)


def postpone() -> None:
    """Let this process start without looking for garbage."""
    gc.set_threshold(*_WHILE_STARTING)


def resume() -> None:
    """Look for it as usual, if that was postponed, but not among what is there by now.

    A failed trial may leave a cycle behind that holds megabytes.
    """
    if gc.get_threshold() == _WHILE_STARTING:
        gc.freeze()
        gc.set_threshold(*_AS_USUAL)


def leave() -> None:
    """Let this process end without looking for garbage."""
    gc.freeze()

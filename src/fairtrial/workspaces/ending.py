"""How a program ended, in a few words."""

from __future__ import annotations

from signal import Signals

from fairtrial.model.task import ProcessUsage
from fairtrial.model.wording import excerpt


def bad_ending(usage: ProcessUsage, *, in_shell: bool) -> str | None:
    """Return how a program ended badly; None when its exit status was 0.

    Args:
        usage: What is known of its end.
        in_shell: A shell ran it, which tells of a killed child in its exit status.
    """
    if usage.signal is not None:
        return f"killed by {_signal_name(usage.signal) or f'signal {usage.signal}'}"
    if not usage.exit_status:
        return None
    name = _signal_name(usage.exit_status - 128) if in_shell else None
    return f"exit status {usage.exit_status}" + (f" ({name})" if name else "")


def with_last_line(what: str, *printed: str) -> str:
    """Return what happened with the last line of the first text that is not blank."""
    for text in printed:
        _, _, line = text.rstrip().rpartition("\n")
        if line:
            return f"{what}: {excerpt(line)}"
    return what


def _signal_name(number: int) -> str | None:
    try:
        return Signals(number).name
    except ValueError:
        return None

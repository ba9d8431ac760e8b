"""What came of serving recorded model calls to a trial."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReplayNote:
    """How far a trial followed its recording.

    Attributes:
        recorded: How many calls the recording of this case and trial holds.
        served: How many of them were served again.
        live: How many calls were made live.
        diverged_at: The number, from 1, of the first call that was not served; None when all were.
        why: What changed at that call, in a few words (`messages[3] differs`, `no more recorded
            calls`, `after --replay-until`).
    """

    recorded: int
    served: int
    live: int
    diverged_at: int | None = None
    why: str | None = None

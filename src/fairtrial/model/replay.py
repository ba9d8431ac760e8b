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


@dataclass(frozen=True, slots=True)
class Divergence:
    """Trials whose first changed call has the same number.

    Attributes:
        number: The call, from 1.
        trials: How many.
        reasons: What changed, with how many trials say so, the most frequent first.
    """

    number: int
    trials: int
    reasons: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ReplayedArm:
    """What came of serving recorded calls to the trials of one arm.

    Attributes:
        arm: Its name.
        trials: Trials on record.
        recorded: Calls of their recordings.
        served: Recorded answers that were served.
        live: Calls that a model answered.
        followed: Trials that made exactly the recorded calls.
        shorter: Trials that ended before their recording did, without a changed call.
        divergences: Where the others changed, by the number of the call.
        tokens: What the served calls had read and written; None when none is known.
        cost_usd: What they had cost; None when none is known.
    """

    arm: str
    trials: int
    recorded: int
    served: int
    live: int
    followed: int
    shorter: int
    divergences: tuple[Divergence, ...]
    tokens: int | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class ReplayReading:
    """What came of a replay.

    Attributes:
        experiment: The id of the recorded experiment; None when recorded steps were put to a model
            one by one.
        arm: Its arm.
        until: The last call of each trial that was served; None served all.
        control: Whether an arm ran the recorded configuration.
        arms: One an arm.
    """

    experiment: str | None
    arm: str | None
    until: int | None
    control: bool
    arms: tuple[ReplayedArm, ...]

"""Where the trials of a replay left their recordings, and what that saved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from fairtrial.model.replay import Divergence, ReplayedArm, ReplayNote
from fairtrial.model.task import Reused
from fairtrial.model.trial import Trial


def replayed_arms(trials: Iterable[Trial], arms: Sequence[str]) -> tuple[ReplayedArm, ...]:
    """Return what came of serving recorded calls to the trials of each arm."""
    of_arm: dict[str, list[tuple[ReplayNote, Reused | None]]] = {arm: [] for arm in arms}
    for trial in trials:
        if trial.replay is not None:
            of_arm[trial.key.arm].append((trial.replay, trial.reused))
    return tuple(_replayed(arm, found) for arm, found in of_arm.items())


def _replayed(arm: str, trials: Sequence[tuple[ReplayNote, Reused | None]]) -> ReplayedArm:
    notes = [note for note, _ in trials]
    unchanged = [note for note in notes if note.diverged_at is None]
    saved = [reused for _, reused in trials if reused is not None]
    tokens = [
        reused.tokens.total
        for reused in saved
        if reused.tokens is not None and reused.tokens.total is not None
    ]
    costs = [reused.cost_usd for reused in saved if reused.cost_usd is not None]
    followed = sum(note.served == note.recorded for note in unchanged)
    return ReplayedArm(
        arm=arm,
        trials=len(notes),
        recorded=sum(note.recorded for note in notes),
        served=sum(note.served for note in notes),
        live=sum(note.live for note in notes),
        followed=followed,
        shorter=len(unchanged) - followed,
        divergences=_divergences(notes),
        tokens=sum(tokens) if tokens else None,
        cost_usd=sum(costs) if costs else None,
    )


def _divergences(notes: Sequence[ReplayNote]) -> tuple[Divergence, ...]:
    reasons: dict[int, Counter[str]] = {}
    for note in notes:
        if note.diverged_at is not None:
            reasons.setdefault(note.diverged_at, Counter())[note.why or ""] += 1
    return tuple(
        Divergence(number, counts.total(), tuple(counts.most_common()))
        for number, counts in sorted(reasons.items())
    )

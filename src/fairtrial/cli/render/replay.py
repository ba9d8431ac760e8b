"""What came of a replay, as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.cli.render.lines import line, section, table
from fairtrial.cli.render.words import counted, money
from fairtrial.model.replay import Divergence, ReplayedArm, ReplayNote, ReplayReading

NO_CONTROL = "No control arm: how much two replays differ by themselves was not measured"
SHOWN = 10


def render_replay(reading: ReplayReading, console: Console) -> None:
    """Print what was served to each arm, where its trials changed, and what that saved."""
    if reading.experiment is not None:
        until = "" if reading.until is None else f", calls 1 to {reading.until:,}"
        section(console, f"Replay of {reading.experiment} arm {reading.arm}{until}")
        table(
            console,
            ("Arm", ">Trials", ">Recorded", ">Served", ">Live", ">Followed", ">Saved"),
            [_row(arm) for arm in reading.arms],
        )
        changed = [(arm.arm, one) for arm in reading.arms for one in arm.divergences]
        if changed:
            section(console, "First changed call")
            rows = [
                (name, f"{one.number:,}", f"{one.trials:,}", _reasons(one))
                for name, one in changed[:SHOWN]
            ]
            table(console, ("Arm", ">Call", ">Trials", "What changed"), rows)
            if len(changed) > SHOWN:
                line(console, f"  … and {counted(len(changed) - SHOWN, 'more place')}")
        for arm in reading.arms:
            if arm.shorter:
                text = f"{counted(arm.shorter, 'trial')} of {arm.arm} ended before the recording"
                line(console, text)
    if not reading.control:
        console.print()
        line(console, NO_CONTROL, "yellow")


def followed(note: ReplayNote) -> str:
    """Return how far a trial followed its recording, in words."""
    served = f"{note.served:,} of {counted(note.recorded, 'recorded call')} served"
    if note.diverged_at is None:
        return served
    return f"{served}, live from call {note.diverged_at:,}: {note.why}"


def _row(arm: ReplayedArm) -> tuple[str, ...]:
    return (
        arm.arm,
        f"{arm.trials:,}",
        f"{arm.recorded:,}",
        f"{arm.served:,}",
        f"{arm.live:,}",
        f"{arm.followed:,}",
        "–" if arm.cost_usd is None else money(arm.cost_usd),
    )


def _reasons(one: Divergence) -> str:
    shown = [f"{why} ({count:,})" for why, count in one.reasons[:3]]
    left = len(one.reasons) - len(shown)
    return ", ".join(shown) + (f", {left:,} more" if left else "")

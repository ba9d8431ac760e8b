"""What `doctor` says of the levels at which a trial can be kept apart from the machine."""

from __future__ import annotations

from collections.abc import Iterator

from ulid import ULID

from fairtrial.app.bench import Bench
from fairtrial.app.reports.doctor import Check
from fairtrial.model.errors import TrialProblem
from fairtrial.model.isolation import Guarantee, Level, LevelStatus
from fairtrial.workspaces.probing import look

_LIMITS = {Guarantee.MEMORY: "memory", Guarantee.PROCESS_COUNT: "the number of processes"}
_SHOWN = 5


def isolation_checks(bench: Bench) -> Iterator[Check]:
    """Try each level, and remove what killed runs have left of workspaces."""
    try:
        levels, swept = look(bench.home, bench.environ, lambda: str(ULID()).lower())
    except (OSError, TrialProblem) as error:
        yield Check("workspaces", ok=None, found=f"could not be tried: {error}")
        return
    yield from (_check(status) for status in levels if status.level is not Level.NONE)
    if swept:
        more = f" and {len(swept) - _SHOWN:,} more" if len(swept) > _SHOWN else ""
        found = f"of killed runs, removed: {', '.join(swept[:_SHOWN])}{more}"
        yield Check("leftovers", ok=True, found=found)


def _check(status: LevelStatus) -> Check:
    name = f"level {status.level}"
    if not status.works:
        fix = f": {status.fix}" if status.fix else ""
        found = f"{status.found}{fix} (needed only for evals at this level)"
        return Check(name, ok=None, found=found)
    told = [status.found]
    for held in status.held:
        if held.what is Guarantee.COPY:
            told.append(f"files are {held.how}")
        elif held.what in _LIMITS:
            can = "can be limited" if held.holds else f"cannot be limited ({held.how})"
            told.append(f"{_LIMITS[held.what]} {can}")
    return Check(name, ok=True, found="; ".join(told))

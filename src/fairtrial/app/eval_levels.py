"""Whether this machine can keep the trials of a run apart from it as the run needs."""

from __future__ import annotations

from collections.abc import Iterable

from ulid import ULID

from fairtrial.app.bench import Bench
from fairtrial.engine.plan import Plan
from fairtrial.model.errors import TrialProblem, UsageError
from fairtrial.model.eval_task import EVAL_TASK, FolderStart
from fairtrial.model.isolation import Level
from fairtrial.workspaces.probing import look


def check_levels(bench: Bench, plan: Plan) -> None:
    """Refuse a run whose level does not work here, before it costs anything.

    What killed runs have left of workspaces is removed.

    Raises:
        UsageError: a level that the run needs does not work.
    """
    wanted = set(_levels(bench, plan))
    if wanted == {Level.NONE}:
        return
    try:
        statuses, _ = look(bench.home, bench.environ, lambda: str(ULID()).lower())
    except (OSError, TrialProblem) as error:
        raise UsageError(f"no workspace can be made: {error}", where=str(bench.home)) from error
    for status in statuses:
        if status.level in wanted and not status.works:
            other = "" if status.level is Level.IMAGE else "; or let the agent do whatever you can"
            raise UsageError(
                f"level {status.level} does not work here",
                why=status.found,
                fix=f"{status.fix}{other and f'{other}: --level none'}",
            )


def _levels(bench: Bench, plan: Plan) -> Iterable[Level]:
    """Yield the level of each arm and task, as an agent task chooses it."""
    positions = [case.position for case in plan.cases]
    cases = list(bench.store.datasets.cases(plan.dataset, positions))
    starts = [bench.store.suites.version(str(case.metadata[EVAL_TASK])).start for case in cases]
    for arm in plan.arms:
        level, image = arm.task.options.get("level"), arm.task.options.get("image")
        for case, start in zip(cases, starts, strict=True):
            own = image or (isinstance(start, FolderStart) and start.in_image)
            if level == Level.IMAGE and not own:
                raise UsageError(
                    f"level image: the task {case.id} has no image",
                    why="its workspace is a repository",
                    fix="leave out --level, or write its image into [environment] of task.toml",
                )
            yield Level(level or ("image" if own else "bwrap"))

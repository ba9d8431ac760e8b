"""What is under test and what judges it: tasks and graders, and what they are built with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.ports.models import AnswerCache, Prices
from fairtrial.ports.programs import Workspace
from fairtrial.ports.runs import Clock
from fairtrial.ports.suites import EvalTasks


class Task(Protocol):
    """Turns cases into outputs.

    `open` is awaited once before the first call and `close` once after the last, also after a
    cancel. `run` is awaited many times at once. Between two calls nothing is shared that could
    change an outcome.
    """

    async def open(self) -> None:
        """Acquire what all calls share (a client, helper processes).

        Raises:
            InfraError: the setup failed.
        """
        ...

    async def run(self, call: TaskCall) -> TaskResult:
        """Run one case.

        A cancelled call leaves nothing running. The task enforces `call.time_limit_s` itself and
        then returns a result with `timed_out`, or raises `TrialTimeout` when there is no output.

        Raises:
            TaskError: the task failed; it is not tried again.
            TrialTimeout: it ran over the limit.
            InfraError: the world failed; it may be tried again.
            Undecidable: no verdict is possible.
        """
        ...

    async def close(self) -> None:
        """Release what `open` acquired. Safe to call when `open` failed."""
        ...


class Grader(Protocol):
    """Turns an output into a grade. `open` and `close` as for a task."""

    @property
    def spec(self) -> GraderSpec:
        """What the user wrote; the engine and the verdict read it, nothing changes it."""
        ...

    async def open(self) -> None:
        """Acquire what all calls share."""
        ...

    async def grade(self, subject: Subject) -> Grade:
        """Grade one output.

        Raises:
            GraderError: no answer could be had; any other exception counts as one.
        """
        ...

    async def close(self) -> None:
        """Release what `open` acquired."""
        ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a task or a grader is built with, beside its own options.

    Attributes:
        base_dir: Where relative paths of the spec start.
        environ: The environment of this process, as it was when it started.
        workspace: Where programs run. Opened on first use; whoever built it closes it.
        prices: What models cost; None leaves every cost unknown.
        answers: Where model answers are kept; None keeps none.
        clock: Time; None where nothing built with it waits.
        evals: Eval tasks and their workspaces; None where none can be run.
        functions: Functions that this process was handed, by the name that a spec gives them; they
            come before any that would be imported.
    """

    base_dir: Path
    environ: Mapping[str, str]
    workspace: Workspace
    prices: Prices | None = None
    answers: AnswerCache | None = None
    clock: Clock | None = None
    evals: EvalTasks | None = None
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

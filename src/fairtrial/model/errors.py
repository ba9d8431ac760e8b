"""What can go wrong, in two families.

`FairtrialError` ends a command: it says what happened, where, why and what to do next, and carries
the exit code. The *trial problems* (`TaskError`, `TrialTimeout`, `InfraError`, `GraderError`,
`Undecidable`) end one trial: the engine turns them into a verdict and the run goes on.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class ExitCode(IntEnum):
    """Every exit status of the command line."""

    OK = 0
    """Done; also ship and continue."""
    NEGATIVE = 1
    """A negative decision: hold, worse, regressed, a case failed under a gate."""
    TOO_FEW = 2
    """Too few cases or rounds to decide."""
    STOP = 3
    """An iteration loop has reached its plateau."""
    NO_VERDICT = 4
    """No quality verdict: infrastructure failed, nothing ran, or a file did not load."""
    USAGE = 64
    """The command, an option or a spec is wrong."""
    NOT_FOUND = 66
    """A named dataset, experiment or file does not exist."""
    INTERNAL = 70
    """A defect of fairtrial."""
    REFUSED = 77
    """Refused: a protected edit, missing consent, or a spent budget."""
    INTERRUPTED = 130
    """Stopped by the user; finished trials are kept."""


class FairtrialError(Exception):
    """A command cannot go on.

    Attributes:
        what: What happened, in one sentence without a final full stop.
        where: The file and line, option or object it happened at.
        why: The cause, when it is known and not obvious.
        fix: What to do next.
    """

    exit_code = ExitCode.NO_VERDICT

    def __init__(
        self, what: str, *, where: str | None = None, why: str | None = None, fix: str | None = None
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.why = why
        self.fix = fix

    def __str__(self) -> str:
        lines = [self.what if self.where is None else f"{self.where}: {self.what}"]
        lines += [f"  why: {self.why}"] if self.why else []
        lines += [f"  fix: {self.fix}"] if self.fix else []
        return "\n".join(lines)


class UsageError(FairtrialError):
    """An option, a spec or a file's content is wrong; nothing was run or written."""

    exit_code = ExitCode.USAGE


class NotFoundError(FairtrialError):
    """A named dataset, version, experiment or file does not exist."""

    exit_code = ExitCode.NOT_FOUND


class RefusedError(FairtrialError):
    """The command would do what needs consent, or spend more than was allowed."""

    exit_code = ExitCode.REFUSED


class ConflictError(RefusedError):
    """What is asked for does not go with what is on record.

    Attributes:
        kind: A name of the conflict, for programs.
    """

    def __init__(
        self, kind: str, what: str, *, where: str | None = None, fix: str | None = None
    ) -> None:
        super().__init__(what, where=where, fix=fix)
        self.kind = kind


class StoreError(FairtrialError):
    """The store cannot be read or written."""


class DefectError(FairtrialError):
    """A defect of fairtrial itself; its traceback was kept."""

    exit_code = ExitCode.INTERNAL


class TrialProblem(Exception):  # noqa: N818  # not all of them are errors
    """Why a trial has no output to grade, or no score. `str()` is the reason shown."""


class TaskError(TrialProblem):
    """The task itself failed: it crashed, sent a bad envelope, or answered HTTP 4xx."""


class TrialTimeout(TrialProblem):
    """The task ran over its time limit."""


class InfraError(TrialProblem):
    """The world around the task failed; the same trial may succeed when tried again.

    Users raise it too, so it says at once what does not fit.

    Attributes:
        kind: `rate_limit`, `server`, `network`, `setup`, `login`, or `quota` (a spent usage limit
            or credit: like a refused login, it is not tried again and it ends the run).
        retry_after: Seconds the other side asked to wait, if it said so.
    """

    KINDS = ("rate_limit", "server", "network", "setup", "login", "quota")

    def __init__(self, reason: str, *, kind: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        if kind not in self.KINDS:
            raise ValueError(f"kind must be one of {', '.join(self.KINDS)}, not {kind!r}")
        if retry_after is not None and not retry_after >= 0:
            raise ValueError(f"retry_after must be seconds, at least 0, not {retry_after!r}")
        self.kind = kind
        self.retry_after = retry_after


class ProviderError(TrialProblem):
    """A provider refused the call itself: no such model, a request it does not take.

    It stays refused when tried again. Who made the call says whose fault that is.
    """


class GraderError(TrialProblem):
    """A grader crashed, or answered off its menu; the output is kept for a regrade.

    Attributes:
        cost_usd: What the model calls behind it cost; 0 when it made none, None when unknown.
        detail: What led to it, as JSON, like that of a `Grade`.
    """

    def __init__(self, reason: str, *, cost_usd: float | None = 0.0, detail: Any = None) -> None:
        super().__init__(reason)
        self.cost_usd = cost_usd
        self.detail = detail


class Undecidable(TrialProblem):
    """No verdict is possible.

    Attributes:
        at_fault: `platform` when fairtrial or its sandbox is to blame (left out of a gate's
            count), else `task`.
    """

    def __init__(self, reason: str, *, at_fault: str = "platform") -> None:
        super().__init__(reason)
        self.at_fault = at_fault

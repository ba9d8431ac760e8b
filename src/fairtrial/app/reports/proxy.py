"""What `proxy` says when it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class ProxyReport:
    """What went through a proxy.

    Attributes:
        session: The session of calls whose client named none.
        calls: How many calls were recorded.
        failed: How many of them had no good answer.
        input_tokens: What models read, caches included; a call without usage adds nothing.
        output_tokens: What models wrote.
        cost_usd: Sum of the costs that are known; None when none is.
        n_costed: How many calls it sums.
        lost: How many calls could not be stored.
        status: Exit status of the command that was run; None without one.
    """

    schema: ClassVar[str] = "fairtrial.proxy/1"

    session: str
    calls: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    n_costed: int
    lost: int
    status: int | None

    @property
    def exit_code(self) -> int:
        """The command's own; else 4 when calls were lost."""
        if self.status is not None:
            return self.status
        return ExitCode.NO_VERDICT if self.lost else ExitCode.OK

    def json(self) -> dict[str, Json]:
        """Return the last line of `proxy --json`."""
        return {
            "schema": self.schema,
            "session": self.session,
            "calls": self.calls,
            "failed": self.failed,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
            "n_costed": self.n_costed,
            "lost": self.lost,
            "status": self.status,
        }

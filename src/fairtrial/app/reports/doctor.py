"""What `doctor` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: What was looked at.
        ok: Whether it is as it should be; None when it need not be there.
        found: What was found.
        fix: What to do when it is not.
    """

    name: str
    ok: bool | None
    found: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """Everything that was looked at."""

    schema: ClassVar[str] = "fairtrial.doctor/1"

    checks: Sequence[Check]

    @property
    def exit_code(self) -> ExitCode:
        """1 when something is wrong."""
        wrong = any(check.ok is False for check in self.checks)
        return ExitCode.NEGATIVE if wrong else ExitCode.OK

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, "checks": [asdict(check) for check in self.checks]}

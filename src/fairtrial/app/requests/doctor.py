"""Options of `doctor`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """Check the installation, the store, the disk and the agents found on PATH.

    Each problem comes with one fix. Exit code 1 when there is a problem.
    """


EXAMPLES = ("fairtrial doctor", "fairtrial doctor --json")

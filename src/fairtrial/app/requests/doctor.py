"""Options of `doctor`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """Check the installation, the store, the disk and the agents found on PATH.

    Tries at which levels a trial can be kept apart from this machine, and removes what killed
    runs have left of workspaces. Each problem comes with one fix. Exit code 1 when there is a
    problem.
    """


EXAMPLES = ("fairtrial doctor", "fairtrial doctor --json")

"""Options of `exp baseline`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Set, show or clear what this project's experiments are compared with.

    An experiment is compared with the baseline it is given, else the project's, else the newest
    earlier finished experiment of the same kind: the same dataset, and the same task kind with the
    same program, URL or function. The project is the repository around the current folder, or the
    folder itself.
    """

    action: Literal["set", "show", "clear"] = option("show", positional=True)
    """set, show or clear"""
    experiment: str | None = option(None, positional=True)
    """With set: the experiment. With show: say what this one is compared with, and why"""


EXAMPLES = (
    "fairtrial exp baseline set smoke",
    "fairtrial exp baseline show",
    "fairtrial exp baseline show candidate",
    "fairtrial exp baseline clear",
)

"""What people say of outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairtrial.model.pairwise import Winner


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """Whether a person passes one arm's output of a case.

    Attributes:
        case_id: The case.
        condition: Its condition; None when the case has only one.
        value: `skip` is a label that was considered and not given.
        criterion: The grader it speaks to; None is the verdict as a whole.
        where: File and line it comes from.
    """

    case_id: str
    condition: str | None
    value: Literal["pass", "fail", "skip"]
    criterion: str | None
    where: str


@dataclass(frozen=True, slots=True)
class WinnerLabel:
    """Which arm's output of a case a person finds better.

    Attributes:
        case_id: The case.
        condition: Its condition; None when the case has only one.
        winner: The better one.
        where: File and line it comes from.
    """

    case_id: str
    condition: str | None
    winner: Winner
    where: str

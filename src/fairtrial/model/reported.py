"""Results that another program reports instead of having them run here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fairtrial.model.case import Case
from fairtrial.model.trial import Trial, TrialKey

REPORTED: Final = "reported"
"""The kind of a task or grader that ran elsewhere: only what it gave is here."""

NEXT_TRIAL: Final = 0
"""The number of a reported trial that takes the next free number of its row."""


@dataclass(frozen=True, slots=True)
class ReportedTrial:
    """A trial that came from elsewhere, with its case.

    Attributes:
        case: Its case. In an experiment on a given dataset only its id and condition count.
        trial: The trial; its number may be `NEXT_TRIAL`.
    """

    case: Case
    trial: Trial


@dataclass(frozen=True, slots=True)
class Receipt:
    """What makes a request that is sent again known.

    Attributes:
        key: Chosen by who sends it.
        digest: SHA-256 of what is asked: another request must not have this key.
    """

    key: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a batch of reported trials.

    Attributes:
        keys: The trials as they are on record, in the order of the batch.
        again: The batch was on record already, under the same key: nothing was written.
    """

    keys: tuple[TrialKey, ...]
    again: bool = False


@dataclass(frozen=True, slots=True)
class Project:
    """A project that other programs report experiments to.

    Attributes:
        id: `prj_` and a ULID.
        name: Unique.
        folder: Where it is, as experiments and settings tell projects apart.
        created_at: When it was made (UTC).
    """

    id: str
    name: str
    folder: str
    created_at: datetime

"""What a reader of another tool's results yields, and what it tells beside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from fairtrial.model.case import DEFAULT_CONDITION
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens

Cause: TypeAlias = Literal["task", "limit", "infra", "undecidable", "grader"]
"""Why a trial has no output that counts, in the words of the verdict table."""

Ending: TypeAlias = Literal["finished", "interrupted", "stopped"]
"""How a run ended: whole, broken off by a person, or by what went wrong."""


@dataclass(frozen=True, slots=True)
class FoundScore:
    """What one of the tool's graders said.

    Attributes:
        value: None when it gave none.
        reason: Its words, or why there is no value.
    """

    value: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a trial has no output that counts."""

    cause: Cause
    reason: str


@dataclass(slots=True)
class FoundTrial:
    """One trial as a tool wrote it down.

    Attributes:
        input: What went in; what stands for it where the tool keeps no input.
        id: The tool's own name of the case; None is known by its input.
        expected: What was expected.
        metadata: Named facts about the case, the same in every run of it.
        tags: Labels of the case.
        split: The case's split.
        condition: The variant of the case.
        arm: Which configuration ran; None where there is one only.
        model: The model that answered.
        trial: The tool's number of the trial, from 1; None takes the next.
        output: What came out.
        scores: By grader.
        passed: The tool's own verdict; None when it has none.
        reason: Why it is so.
        trouble: Why there is no output that counts.
        started_at: When (UTC); None is unknown.
        duration_s: Seconds; None is unknown.
        cost_usd: None is unknown.
        tokens: None is unknown.
        metrics: Named numbers.
        spans: Steps.
        stands_in: Something else stands for an input that the tool does not keep.
        transcript: The transcript of the session that it was.
    """

    input: Json
    id: str | None = None
    expected: Json = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    tags: Sequence[str] = ()
    split: str | None = None
    condition: str = DEFAULT_CONDITION
    arm: str | None = None
    model: str | None = None
    trial: int | None = None
    output: Json = None
    scores: Mapping[str, FoundScore] = field(default_factory=dict)
    passed: bool | None = None
    reason: str | None = None
    trouble: Trouble | None = None
    started_at: datetime | None = None
    duration_s: float | None = None
    cost_usd: float | None = None
    tokens: Tokens | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    spans: Sequence[Mapping[str, Json]] = ()
    stands_in: bool = False
    transcript: Path | None = None


@dataclass(frozen=True, slots=True)
class FoundRun:
    """What a tool says of a whole run.

    Attributes:
        name: What it calls it; None when it has no name.
        dataset: What it calls the cases.
        target: What was tested.
        version: The version of that.
        model: The model behind it.
        commit: Git commit that ran.
        branch: Git branch.
        dirty: Whether files differed from the commit.
        ending: How it ended.
        why: Why it did not finish.
        thresholds: From which value on a score passes, where the tool has a rule for it.
        graders: Graders that the tool names, whether or not they scored.
        arms: The arms in the tool's own order; those that are not in it come after.
        decides: The only graders that decide; empty where all do that can.
        facts: Named facts that are kept with it.
    """

    name: str | None = None
    dataset: str | None = None
    target: str | None = None
    version: str | None = None
    model: str | None = None
    commit: str | None = None
    branch: str | None = None
    dirty: bool | None = None
    ending: Ending = "finished"
    why: str | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    graders: Sequence[str] = ()
    arms: Sequence[str] = ()
    decides: Sequence[str] = ()
    facts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was not taken as it stood.

    Attributes:
        what: What, in words.
        count: How often.
        first: Where it was first.
        lost: Trials were lost by it, so the experiment is not whole.
    """

    what: str
    count: int
    first: str | None = None
    lost: bool = False


_MOST_KINDS: Final = 100
_REST: Final = "further things were not understood"


class Notes:
    """Counts what was not taken as it stood."""

    def __init__(self) -> None:
        self._found: dict[str, Note] = {}

    def add(self, what: str, first: str | None = None, *, lost: bool = False, n: int = 1) -> None:
        """Count something."""
        if what not in self._found and len(self._found) >= _MOST_KINDS:
            what = _REST
        before = self._found.get(what)
        if before is None:
            self._found[what] = Note(what, n, first, lost)
        else:
            self._found[what] = Note(what, before.count + n, before.first, lost or before.lost)

    def all(self) -> list[Note]:
        """Return what was counted, in the order it first came."""
        return list(self._found.values())

    @property
    def lost(self) -> int:
        """How many trials were lost."""
        return sum(note.count for note in self._found.values() if note.lost)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said about files.

    Attributes:
        columns: Which key or column of plain rows holds what: roles by its name.
        predictions: The file with the patches that a report of SWE-bench is about.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    predictions: Path | None = None


class Reading(Protocol):
    """The results of one run, read once."""

    def trials(self) -> Iterator[FoundTrial]:
        """Yield its trials in the order of the file.

        Raises:
            UsageError: what was recognised cannot be read after all.
        """
        ...

    def run(self) -> FoundRun:
        """Return what is known of the run; to be asked after its trials."""
        ...


class Reader(Protocol):
    """A module that reads one tool's results.

    Attributes:
        TOOL: What the tool is called.
    """

    TOOL: str

    def recognises(self, probe: Probe, asked: Asked) -> bool:
        """Return whether a file or folder holds this tool's results, by what is in it."""
        ...

    def read(self, path: Path, asked: Asked, notes: Notes) -> Reading:
        """Return the results of a file or folder that it recognises.

        Raises:
            UsageError: it cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Probe:
    """What a file or folder shows of itself.

    Attributes:
        path: It.
        head: The first bytes of a file as text, whatever its encoding; empty for a folder.
        keys: Keys of the first JSON object of a file, however far into it they are, with their
            values where these are short, else None; empty when it begins with none.
        is_folder: Whether it is a folder.
    """

    path: Path
    head: str
    keys: Mapping[str, Json]
    is_folder: bool

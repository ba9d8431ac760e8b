"""What `push` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from fairtrial.interchange.results.contract import Note
from fairtrial.model.errors import ExitCode, FairtrialError
from fairtrial.model.json import Json

_OF_ANSWER: Final = frozenset({"schema", "again"})
"""What is said of the answer, not of the experiment."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """One run of another tool, as an experiment.

    Attributes:
        path: Where it was read from.
        tool: What the tool is called.
        trials: How many trials were read.
        cases: How many cases they are of.
        arms: Its arms.
        graders: Who scored, as the API takes them.
        scored: Trials with a score, by grader.
        notes: What was not taken as it stood.
        standing: What the API answers of the experiment as it stands; None in a dry run.
        again: It was there already.
        sessions: Ids of the sessions that came with it.
    """

    path: str
    tool: str
    trials: int
    cases: int
    arms: Sequence[str]
    graders: Sequence[Mapping[str, Json]]
    scored: Mapping[str, int]
    notes: Sequence[Note]
    standing: Mapping[str, Json] | None = None
    again: bool = False
    sessions: Sequence[str] = ()

    def json(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        return {
            "path": self.path,
            "tool": self.tool,
            "n_trials": self.trials,
            "n_cases": self.cases,
            "arms": list(self.arms),
            "graders": [
                {
                    "name": one["name"],
                    "required": one.get("required", True),
                    "threshold": one.get("threshold"),
                    "lower_is_better": one.get("lower_is_better", False),
                    "n_scored": self.scored.get(str(one["name"]), 0),
                }
                for one in self.graders
            ],
            "notes": [
                {"what": note.what, "n": note.count, "first": note.first, "lost": note.lost}
                for note in self.notes
            ],
            "again": self.again,
            "sessions": list(self.sessions),
            "experiment": None
            if self.standing is None
            else {name: self.standing[name] for name in self.standing if name not in _OF_ANSWER},
        }


@dataclass(frozen=True, slots=True)
class Unpushed:
    """What could not be read.

    Attributes:
        path: It.
        error: Why.
    """

    path: str
    error: FairtrialError


@dataclass(frozen=True, slots=True)
class PushReport:
    """Results of other tools, as experiments.

    Attributes:
        pushed: One for each run.
        failed: What could not be read.
        url: The server they went to; None is this store.
        dry_run: Nothing was written.
    """

    schema: ClassVar[str] = "fairtrial.pushed/1"

    pushed: Sequence[Pushed]
    failed: Sequence[Unpushed]
    url: str | None
    dry_run: bool

    @property
    def exit_code(self) -> ExitCode:
        """4 when something could not be read."""
        return ExitCode.NO_VERDICT if self.failed else ExitCode.OK

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "url": self.url,
            "dry_run": self.dry_run,
            "pushed": [one.json() for one in self.pushed],
            "failed": [
                {
                    "path": one.path,
                    "what": one.error.what,
                    "where": one.error.where,
                    "why": one.error.why,
                    "fix": one.error.fix,
                }
                for one in self.failed
            ],
        }

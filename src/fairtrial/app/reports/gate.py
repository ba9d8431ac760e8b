"""What `exp gate` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.baseline import baseline_json
from fairtrial.app.reports.informing import Informing
from fairtrial.model.baseline import Baseline
from fairtrial.model.decision import Decision
from fairtrial.model.errors import ExitCode
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.gate_rule import RuleResult
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class GateReport:
    """An experiment, held against rules.

    Attributes:
        state: The experiment and where it stands.
        arm: The arm that was judged.
        rules_of: Where the rules come from: `file`, `spec` or `project`.
        baseline: What deltas were compared with; None when no rule is about them.
        results: What each rule came to.
        decision: Ship, hold, too few or no verdict.
    """

    schema: ClassVar[str] = "fairtrial.gate/1"

    state: ExperimentState
    arm: str
    rules_of: str
    baseline: Baseline | None
    results: Sequence[RuleResult]
    decision: Decision

    @property
    def exit_code(self) -> ExitCode:
        """That of the decision."""
        return self.decision.exit_code

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, **self.facts(), "exit_code": self.exit_code}

    def facts(self) -> dict[str, Json]:
        """Return what it says, without its schema."""
        return {
            "experiment": self.state.experiment.id,
            "name": self.state.experiment.name,
            "arm": self.arm,
            "rules_of": self.rules_of,
            "baseline": None if self.baseline is None else baseline_json(self.baseline),
            "decision": self.decision.outcome.value,
            "reasons": list(self.decision.reasons),
            "rules": [_result_json(result) for result in self.results],
        }


def _result_json(result: RuleResult) -> dict[str, Json]:
    return {
        "name": result.name,
        "passed": result.passed,
        "actual": result.actual,
        "shown": result.shown,
        "reason": result.reason,
        "n_rows": len(result.rows),
        "rows": [key._asdict() for key in result.rows],
        "rule": dict(result.rule),
    }


@dataclass(frozen=True, slots=True)
class GateChip:
    """Where an experiment stands at the release gate, in a word.

    Attributes:
        standing: The outcome of its gate; `testing` while it runs, `none` without rules,
            `unknown` when nobody has looked yet or its rules do not fit.
        reason: The first reason; None when there is nothing to say.
    """

    standing: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RuleView:
    """One rule on a page.

    Attributes:
        name: What to call it.
        passed: Whether it is kept; None when that cannot be said.
        shown: Its value in words.
        reason: Why it cannot be said, or what was left out.
        n_rows: How many rows broke it, up to a thousand.
        rows: The first of them: case, condition and arm.
    """

    name: str
    passed: bool | None
    shown: str
    reason: str | None
    n_rows: int
    rows: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class GateView:
    """A release gate on a page.

    Attributes:
        standing: As in `GateChip`.
        reasons: Why, one sentence each.
        rules_of: Where the rules come from: `spec` or `project`.
        rules: Each rule; none while a large experiment runs.
    """

    standing: str
    reasons: tuple[str, ...]
    rules_of: str
    rules: tuple[RuleView, ...]


@dataclass(frozen=True, slots=True)
class GateRulesReport(Informing):
    """The rules of a project.

    Attributes:
        project: Its folder.
        names: Each rule in words.
        rules: The rules as they were written.
    """

    schema: ClassVar[str] = "fairtrial.gate_rules/1"

    project: str
    names: Sequence[str]
    rules: Sequence[Mapping[str, Json]]

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "project": self.project,
            "names": list(self.names),
            "rules": [dict(rule) for rule in self.rules],
        }

"""What the rules of a release gate look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fairtrial.model.case import CaseKey
from fairtrial.model.columns import ArmColumns, CaseLabels
from fairtrial.model.comparison import Comparison
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.gate_rule import GateRule


@dataclass(frozen=True, slots=True)
class GateFacts:
    """One experiment, as far as rules ask.

    Attributes:
        state: The experiment and where it stands.
        rows: The rows of the arm that is judged.
        labels: Tags and splits of the cases that have any.
        grader_passes: For each grader that a rule asks about, (passed, scored) trials of a row.
        platform: Rows without a decided trial that the platform caused.
        comparison: The comparison with the baseline; None without one.
        no_comparison: Why there is none.
        selection: Set when one side ran only what the other failed: why that shows no gain.
    """

    state: ExperimentState
    rows: ArmColumns
    labels: Mapping[CaseKey, CaseLabels]
    grader_passes: Mapping[str, Mapping[CaseKey, tuple[int, int]]] = field(default_factory=dict)
    platform: frozenset[CaseKey] = frozenset()
    comparison: Comparison | None = None
    no_comparison: str = "there is no baseline"
    selection: str = ""

    def keys(self, rule: GateRule) -> Iterator[tuple[int, CaseKey]]:
        """Yield the places and keys of the rows that a rule looks at."""
        pairs = zip(self.rows.case_ids, self.rows.conditions, strict=True)
        for place, pair in enumerate(pairs):
            key = CaseKey(*pair)
            if self._fits(rule, key):
                yield place, key

    def _fits(self, rule: GateRule, key: CaseKey) -> bool:
        if rule.condition is not None and key.condition != rule.condition:
            return False
        if rule.tag is None and rule.split is None:
            return True
        labels = self.labels.get(key)
        if labels is None:
            return False
        return (rule.tag is None or rule.tag in labels.tags) and (
            rule.split is None or rule.split == labels.split
        )

    def shares(self, rule: GateRule) -> dict[CaseKey, float]:
        """Return each row's share of decided trials that passed; rows without one are absent."""
        if rule.grader is not None:
            passes = self.grader_passes.get(rule.grader, {})
            counts = ((key, passes.get(key, (0, 0))) for _, key in self.keys(rule))
            return {key: passed / scored for key, (passed, scored) in counts if scored}
        found = {}
        for place, key in self.keys(rule):
            passed, failed = self.rows.passed[place], self.rows.failed[place]
            if passed + failed:
                found[key] = passed / (passed + failed)
        return found

    def means(self, rule: GateRule) -> dict[CaseKey, float]:
        """Return each row's mean score; rows without one are absent."""
        if rule.grader is None:
            scores = ((key, self.rows.scores[place]) for place, key in self.keys(rule))
            return {key: score for key, score in scores if score is not None}
        grader = self.rows.graders.get(rule.grader)
        if grader is None:
            return {}
        known = dict(zip(grader.rows, grader.means, strict=True))
        return {key: known[place] for place, key in self.keys(rule) if place in known}

    def undecided(self, rule: GateRule) -> list[CaseKey]:
        """Return the rows without a decided trial, sorted."""
        return sorted(
            key
            for place, key in self.keys(rule)
            if not self.rows.passed[place] + self.rows.failed[place]
        )

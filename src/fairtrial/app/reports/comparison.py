"""What `exp compare` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from fairtrial.analysis.tried import Tried
from fairtrial.app.reports.baseline import baseline_json
from fairtrial.interchange.experiment_exports.export import timestamp
from fairtrial.model.baseline import Baseline
from fairtrial.model.comparison import Change, Comparison, RowChange
from fairtrial.model.decision import Decision
from fairtrial.model.delta import Delta, Quantity, Slice
from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json
from fairtrial.model.noise import Luck, StoredFloor

if TYPE_CHECKING:
    from fairtrial.analysis.labelled_delta import LabelReading
    from fairtrial.analysis.pairwise_judging import JudgedPairs


_ALONE = (Change.NEW, Change.DROPPED)
"""Rows with nothing to compare: ids say all, and take a tenth of the room that rows would."""


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """Two experiments beside each other.

    Attributes:
        comparison: What was found.
        decision: What the gate and the margin say; None when neither was asked.
        with_matrix: Print the matrix of passes too.
        judged: What pairwise judges found; None when none was asked.
        people: What people's labels came to; None when there are none.
        floor: The noise floor that was measured for one of the configurations, if any.
        baseline: How A was found, when nobody named it.
        tried: How many configurations were tried on B's dataset, and what that does to the best.
    """

    schema: ClassVar[str] = "fairtrial.comparison/1"

    comparison: Comparison
    decision: Decision | None = None
    with_matrix: bool = False
    judged: JudgedPairs | None = None
    people: LabelReading | None = None
    floor: StoredFloor | None = None
    baseline: Baseline | None = None
    tried: Tried | None = None

    @property
    def luck(self) -> Luck | None:
        """How far two unchanged runs of this size differ; None when nobody measured it."""
        rows, trials = self.comparison.coverage.paired, self.comparison.a.trials
        return self.floor.luck_at(rows, trials) if self.floor is not None and rows else None

    @property
    def exit_code(self) -> ExitCode:
        """That of the decision; without one 0, or 4 when nothing could be compared."""
        if self.decision is not None:
            return self.decision.exit_code
        return ExitCode.OK if self.comparison.comparable else ExitCode.NO_VERDICT

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object: every row that changed is in it."""
        found = self.comparison
        return {
            "schema": self.schema,
            "a": asdict(found.a),
            "b": asdict(found.b),
            "open": f"fairtrial exp show {found.b.id} --case CASE_ID",
            "problems": [asdict(problem) for problem in found.problems],
            "counts": {change.value: count for change, count in found.counts.items()},
            "delta": delta_json(found.delta),
            "graders": [slice_json(part) for part in found.graders],
            "slices": [slice_json(part) for part in found.slices],
            "slices_left_out": found.slices_left_out,
            "quantities": [quantity_json(quantity) for quantity in found.quantities],
            "coverage": _coverage(found),
            "flip_noise": asdict(found.noise),
            "smallest_visible": asdict(found.smallest),
            "histogram": [asdict(bar) for bar in found.histogram],
            "matrix": [{"a": a, "b": b, "rows": n} for (a, b), n in sorted(found.matrix.items())],
            "rows": {
                change.value: [_row(row) for row in rows]
                for change, rows in found.rows.items()
                if change not in _ALONE
            },
            **{change.value: _ids(found.rows[change]) for change in _ALONE},
            "noise_floor": self._floor(),
            "baseline": None if self.baseline is None else baseline_json(self.baseline),
            "tried": None if self.tried is None else self.tried.content(),
            **self._opinions(),
            "decision": None if self.decision is None else decision_json(self.decision),
            "sentence": found.sentence,
            "exit_code": self.exit_code,
        }

    def _floor(self) -> dict[str, Json] | None:
        if self.floor is None:
            return None
        luck = self.luck
        seen = luck is not None and not luck.at_most
        return {
            "experiments": list(self.floor.experiments),
            "measured_at": timestamp(self.floor.measured_at),
            "flip_rate": self.floor.floor.flip_rate,
            "flip_rate_at_most": self.floor.floor.flip_rate_at_most,
            "within": self.floor.floor.within,
            "sd": luck.sd if luck is not None and seen else None,
            "sd_at_most": luck.sd if luck is not None and not seen else None,
        }

    def _opinions(self) -> dict[str, Json]:
        if self.judged is None and self.people is None:
            return {"pairwise": None, "human_labels": None}
        # Most comparisons ask neither judges nor people, and do without this module.
        from fairtrial.app.reports.opinions import judged_json, reading_json  # noqa: PLC0415

        return {
            "pairwise": None if self.judged is None else judged_json(self.judged),
            "human_labels": None if self.people is None else reading_json(self.people),
        }


def delta_json(delta: Delta) -> dict[str, Json]:
    """Return a delta; what is undefined is null, and `reason` says why."""
    interval = None
    if delta.lower is not None and delta.upper is not None:
        interval = {
            "method": delta.method,
            "level": delta.level,
            "lower": delta.lower,
            "upper": delta.upper,
        }
    p = None if delta.p is None else {"method": delta.p_method, "value": delta.p}
    return {
        "a": delta.a,
        "b": delta.b,
        "estimate": delta.estimate,
        "ci": interval,
        "p": p,
        "p_adjusted": delta.p_adjusted,
        "verdict": delta.verdict.value,
        "n": delta.n,
        "clusters": delta.clusters,
        "reason": delta.reason,
        "seed": delta.seed,
    }


def slice_json(part: Slice) -> dict[str, Json]:
    """Return the delta of one grader or one part of the rows."""
    return {"kind": part.kind, "name": part.name, **delta_json(part.delta)}


def quantity_json(quantity: Quantity) -> dict[str, Json]:
    """Return what a trial takes in both arms."""
    return asdict(quantity)


def decision_json(decision: Decision) -> dict[str, Json]:
    """Return a decision with what led to it."""
    return {
        "outcome": decision.outcome.value,
        "reasons": list(decision.reasons),
        "advice": list(decision.advice),
        "evidence": dict(decision.evidence),
    }


def _coverage(found: Comparison) -> dict[str, Json]:
    coverage = found.coverage
    return {
        "paired": coverage.paired,
        "total": coverage.total,
        "share": coverage.share,
        "undecided_a": {cause.value: count for cause, count in coverage.undecided_a.items()},
        "undecided_b": {cause.value: count for cause, count in coverage.undecided_b.items()},
        "lost_a": coverage.lost_a,
        "lost_b": coverage.lost_b,
    }


def _ids(rows: Sequence[RowChange]) -> dict[str, Json]:
    found: dict[str, list[Json]] = {}
    for row in rows:
        found.setdefault(row.key.condition, []).append(row.key.case_id)
    return dict(sorted(found.items()))


def _row(row: RowChange) -> dict[str, Json]:
    found: dict[str, Json] = {
        "case_id": row.key.case_id,
        "condition": row.key.condition,
        "a": None if row.a is None else asdict(row.a),
        "b": None if row.b is None else asdict(row.b),
        "reason": row.reason,
        "within_noise": row.within_noise,
    }
    return found

"""Two arms with sequential attempts, ready to be compared by Seq@K in place of the pass rate."""

from __future__ import annotations

from dataclasses import replace

from fairtrial.analysis.comparing.compare import Compare
from fairtrial.analysis.seq import solved_counts
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm
from fairtrial.model.case import CaseKey
from fairtrial.model.columns import ArmColumns, PairedRows
from fairtrial.model.comparison import Problem
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.ports import TrialFilter


def seq_rows(bench: Bench, a: ChosenArm, b: ChosenArm, rows: PairedRows) -> PairedRows:
    """Return the rows of two arms with what was solved within K attempts in place of what passed.

    Raises:
        UsageError: an arm has no sequential attempts, or the two have others.
    """
    k = _attempts(a, b)
    return replace(rows, a=_columns(bench, a, rows.a, k), b=_columns(bench, b, rows.b, k))


def read_as_seq(found: Compare, arm: ChosenArm) -> Compare:
    """Return a comparison that says that it reads Seq@K."""
    k = _design(arm)["attempts"]
    told = Problem(
        f"passed means solved within {k} attempts (Seq@{k}); graders, cost, tokens and duration "
        "are those of the first attempts",
    )
    comparison = replace(
        found.comparison,
        problems=(*found.comparison.problems, told),
        sentence=f"By Seq@{k}: {found.comparison.sentence}",
    )
    return replace(found, comparison=comparison)


def _attempts(a: ChosenArm, b: ChosenArm) -> int:
    for arm in (a, b):
        if _design(arm).get("kind") != "seq":
            raise UsageError(
                f"{arm.label} was run without sequential attempts, so it has no Seq@K",
                where="--verdict seq",
                fix="run both with the same --seq and --feedback, or leave --verdict out",
            )
    if _design(a) != _design(b):
        told = [
            f"{arm.label} has --seq {design['attempts']}, feedback {design['feedback']}, history "
            f"{design['history']}"
            for arm, design in ((a, _design(a)), (b, _design(b)))
        ]
        raise UsageError(
            "the two runs had other sequential attempts",
            where="--verdict seq",
            why="; ".join(told),
            fix="run both with the same --seq, --feedback and --seq-history",
        )
    return int(_design(a)["attempts"])


def _design(arm: ChosenArm) -> dict[str, Json]:
    return dict(arm.experiment.spec.get("design", {}))


def _columns(bench: Bench, arm: ChosenArm, columns: ArmColumns, k: int) -> ArmColumns:
    where = TrialFilter(arm=arm.arm)
    counts = solved_counts(bench.store.experiments.trials(arm.experiment.id, where), k)
    keys = map(CaseKey, columns.case_ids, columns.conditions)
    found = [counts.get(key, (0, 0)) for key in keys]
    sizes = map(sum, zip(columns.passed, columns.failed, columns.undecided, strict=True))
    return replace(
        columns,
        passed=[solved for solved, _ in found],
        failed=[known - solved for solved, known in found],
        undecided=[size - known for size, (_, known) in zip(sizes, found, strict=True)],
        scores=[None] * columns.n,
    )

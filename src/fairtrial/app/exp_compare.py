"""`exp compare`: two experiments beside each other, and whether B may ship."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fairtrial.analysis.comparing.comparability import Input
from fairtrial.analysis.comparing.compare import Compare, compare
from fairtrial.analysis.comparing.deciding import Platform, combined, gate, margin
from fairtrial.analysis.gate.ship import ShipRules
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm, arms_to_compare
from fairtrial.app.file_options import Document, Plot
from fairtrial.app.judging_options import HumanLabels, Judges
from fairtrial.app.kept_facts import standing_of
from fairtrial.app.ledger import tried_in
from fairtrial.app.noise_floors import floor_of_either
from fairtrial.app.platform_faults import caused_by_platform
from fairtrial.app.reports.comparison import ComparisonReport
from fairtrial.app.requests.exp_compare import Gate, Request
from fairtrial.app.seq_columns import read_as_seq, seq_rows
from fairtrial.model.case import CaseKey
from fairtrial.model.columns import PairedRows
from fairtrial.model.decision import Decision
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import Status
from fairtrial.model.json import canonical_json
from fairtrial.model.wording import excerpt
from fairtrial.stats.errors import ArgumentError

if TYPE_CHECKING:
    from fairtrial.analysis.pairwise_judging import JudgedPairs
    from fairtrial.app.opinions import Opinions
    from fairtrial.app.reports.accompanied import AccompaniedReport

_NAMED = 3
"""Cases that a message names."""


def exp_compare(bench: Bench, request: Request) -> ComparisonReport | AccompaniedReport:
    """Compare two experiments, and write what was asked for beside the report.

    Raises:
        NotFoundError: there is no such experiment.
        UsageError: an option or an argument makes no sense, or a file cannot be written.
        StoreError: the store cannot be read.
    """
    if request.document == Document() and request.picture == Plot():
        return compared(bench, request)[1]
    # Most comparisons are only read, and do without the modules that write.
    from fairtrial.app.comparison_files import ComparisonFiles  # noqa: PLC0415

    files = ComparisonFiles.of(bench, request.document, request.picture)
    found, report = compared(bench, request)
    return report if files is None else files.beside(found, report)


def compared(bench: Bench, request: Request) -> tuple[Compare, ComparisonReport]:
    """Compare two experiments; with a gate or a margin, decide; with judges or labels, ask them.

    Raises:
        NotFoundError: there is no such experiment.
        UsageError: an arm is not named or not there, A and B are the same, an option does not fit
            the data, or a judge or a label makes no sense.
        StoreError: the store cannot be read.
    """
    rules = ship_rules(request.ship)
    opinions = _opinions(bench, request)
    first, second, baseline = arms_to_compare(bench, request.a, request.b)
    labels = _labels(first, second)
    a, b = Input(*first, labels[0]), Input(*second, labels[1])
    found = _remembered(bench, request, (first, second), (a, b))
    judged, people = opinions.on(found, (a, b)) if opinions else (None, None)
    faults: Platform = (frozenset(), frozenset())
    if request.ship.gate:
        faults = (caused_by_platform(bench, first), caused_by_platform(bench, second))
    decision = combined(_decisions(found, request, (rules, faults), judged))
    report = ComparisonReport(
        found.comparison,
        decision,
        with_matrix=request.matrix,
        judged=judged,
        people=people,
        floor=floor_of_either(bench, first, second),
        baseline=baseline,
    )
    return found, replace(report, tried=tried_in(bench, report, second.experiment))


def _remembered(
    bench: Bench, request: Request, arms: tuple[ChosenArm, ChosenArm], sides: tuple[Input, Input]
) -> Compare:
    """Return what was compared before in this process, if nothing was recorded since."""
    asked = (request.verdict, request.cluster, request.force, request.ci)
    stands = [
        (arm.key, standing_of(arm.state), side.label) for arm, side in zip(arms, sides, strict=True)
    ]
    if any(arm.state.status is Status.RUNNING for arm in arms):
        return _found(bench, request, arms, sides)
    return bench.comparisons.of((*stands, asked), lambda: _found(bench, request, arms, sides))


def _found(
    bench: Bench, request: Request, arms: tuple[ChosenArm, ChosenArm], sides: tuple[Input, Input]
) -> Compare:
    (first, second), (a, b) = arms, sides
    rows = bench.store.experiments.paired_rows(first.key, second.key)
    by_seq = request.verdict == "seq"
    if by_seq:
        rows = seq_rows(bench, first, second, rows)
    clusters = None if request.cluster is None else _clusters(bench, b, rows, request.cluster)
    try:
        found = compare(a, b, rows, force=request.force, clusters=clusters, ci=request.ci)
    except ArgumentError as error:
        why = str(error).removeprefix("ci: ")
        raise UsageError(why, where="--ci", fix="leave it out for the one that fits") from None
    return read_as_seq(found, first) if by_seq else found


def _opinions(bench: Bench, request: Request) -> Opinions | None:
    if request.judges == Judges() and request.people == HumanLabels():
        return None
    # Most comparisons ask neither judges nor people, and do without these modules.
    from fairtrial.app.opinions import Opinions  # noqa: PLC0415

    cache = not request.caching.no_cache
    return Opinions(bench, request.judges, request.people, cache=cache)


def ship_rules(options: Gate) -> ShipRules:
    """Return the bars of the ship gate.

    Raises:
        UsageError: one is given without the gate.
    """
    given = {
        "--lambda": options.harm_weight,
        "--gate-alpha": options.gate_alpha,
        "--tau": options.tau,
    }
    stray = [flag for flag, value in given.items() if value is not None]
    if stray and not options.gate:
        raise UsageError(f"{stray[0]} has no effect without --gate", fix="add --gate")
    usual = ShipRules()
    return ShipRules(
        harm_weight=usual.harm_weight if options.harm_weight is None else options.harm_weight,
        break_limit=usual.break_limit if options.tau is None else options.tau,
        alpha=usual.alpha if options.gate_alpha is None else options.gate_alpha,
    )


def _decisions(
    found: Compare,
    request: Request,
    bars: tuple[ShipRules, Platform],
    judged: JudgedPairs | None,
) -> tuple[Decision, ...]:
    decisions = []
    if request.ship.gate:
        decisions.append(gate(found, *bars))
    if request.ship.gate and judged is not None:
        from fairtrial.analysis.pairwise_judging import judges_gate  # noqa: PLC0415  # as above

        decisions.append(judges_gate(judged, alpha=bars[0].alpha))
    if request.margin is not None:
        decisions.append(margin(found, request.margin, request.ci))
    return tuple(decisions)


def _labels(a: ChosenArm, b: ChosenArm) -> tuple[str, str]:
    if a.experiment.name != b.experiment.name:
        return a.label, b.label
    return (a.arm, b.arm) if a.arm != b.arm else ("A", "B")


def _clusters(bench: Bench, side: Input, rows: PairedRows, key: str) -> Sequence[Hashable]:
    """Return the metadata value of each shared row, as text."""
    known = _metadata(bench, side, key)
    ids, conditions = rows.a.case_ids, rows.a.conditions
    keys = [CaseKey(ids[place], conditions[place]) for place in rows.pairs[0]]
    missing = [case for case in keys if case not in known]
    if missing:
        named = ", ".join(excerpt(str(case), 80) for case in sorted(missing)[:_NAMED])
        more = "" if len(missing) <= _NAMED else " …"
        raise UsageError(
            f"{len(missing):,} of {len(keys):,} cases have no {key!r} in their metadata",
            where="--cluster",
            why=f"they belong to no cluster: {named}{more}",
            fix="give every case that field, or choose another",
        )
    return [known[case] for case in keys]


def _metadata(bench: Bench, side: Input, key: str) -> Mapping[CaseKey, str]:
    experiment = side.state.experiment
    datasets = bench.store.datasets
    version = datasets.version(f"{experiment.dataset}@{experiment.dataset_number}")
    positions = bench.store.experiments.positions(experiment.id)
    return {
        case.key: canonical_json(case.metadata[key]).decode()
        for case in datasets.cases(version, positions)
        if case.metadata.get(key) is not None
    }

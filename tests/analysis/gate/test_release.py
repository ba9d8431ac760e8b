"""Rules of a release gate, held against an experiment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fairtrial.analysis.comparing.comparability import Input
from fairtrial.analysis.comparing.compare import compare
from fairtrial.analysis.gate.facts import GateFacts
from fairtrial.analysis.gate.release import decide_release, describe, evaluate
from fairtrial.app.gate_rules import gate_rules
from fairtrial.model.case import CaseKey
from fairtrial.model.columns import ArmColumns, CaseLabels, GraderColumns, PairedRows
from fairtrial.model.decision import Outcome
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import ExperimentState, Status, Totals
from fairtrial.model.gate_rule import RuleResult
from fairtrial.model.verdict import Cause
from fairtrial.testing.store.facts import NOON, an_experiment

SPEC = {"arms": {"main": {"kind": "command", "command": "agent"}}, "graders": [{"name": "exact"}]}


def columns(*counts: tuple[int, int, int], condition: str = "default") -> ArmColumns:
    """Rows a, b, c, … with (passed, failed, undecided) trials; exact scores what passed."""
    n = len(counts)
    shares = [p / (p + f) if p + f else None for p, f, _ in counts]
    scored = [place for place, share in enumerate(shares) if share is not None]
    means = [share for share in shares if share is not None]
    exact = GraderColumns(scored, means, sum(p + f for p, f, _ in counts), 0.0, 1.0, binary=True)
    return ArmColumns(
        case_ids=[chr(97 + i) for i in range(n)],
        conditions=[condition] * n,
        passed=[p for p, _, _ in counts],
        failed=[f for _, f, _ in counts],
        undecided=[u for _, _, u in counts],
        scores=shares,
        durations=[float(i + 1) for i in range(n)],
        costs=[0.1 * (i + 1) for i in range(n)],
        tokens=[None] * n,
        reasons=[None] * n,
        graders={"exact": exact},
        causes={},
    )


def facts_of(rows: ArmColumns, **changes: Any) -> GateFacts:
    passed, failed, undecided = sum(rows.passed), sum(rows.failed), sum(rows.undecided)
    totals = Totals(
        passed,
        failed,
        undecided,
        cost_usd=2.0,
        costed=passed + failed + undecided,
        duration_s=20.0,
        timed=passed + failed + undecided,
    )
    experiment = an_experiment(2, spec=SPEC, arms=("main",))
    state = ExperimentState(experiment, Status.FINISHED, None, totals, NOON, NOON)
    return GateFacts(**{"state": state, "rows": rows, "labels": {}, **changes})


# Rows: a 10/10, b 8/10, c 5/10, d without a verdict.
ROWS = columns((10, 0, 0), (8, 2, 0), (5, 5, 0), (0, 0, 2))
FACTS = facts_of(ROWS)


def judged(rule: dict[str, Any], facts: GateFacts = FACTS) -> RuleResult:
    (result,) = evaluate(gate_rules([rule], "gate"), facts)
    return result


def ids(result: RuleResult) -> str:
    return "".join(key.case_id for key in result.rows)


@pytest.mark.parametrize(
    ("rule", "passed", "actual", "rows"),
    [
        ({"pass_rate": {"at_least": 0.7666}}, True, 23 / 30, ""),
        ({"pass_rate": {"at_least": 0.8}}, False, 23 / 30, "c"),
        ({"pass_rate": {"at_most": 0.5}}, False, 23 / 30, "ab"),
        ({"pass_rate": {"at_least": "23/30", "at_most": "23/30"}}, True, 23 / 30, ""),
        ({"mean": {"at_least": 0.9}}, False, 23 / 30, "cb"),
        ({"grader": "exact", "mean": {"at_most": 0}}, False, 23 / 30, "abc"),
        ({"every_row": {"passed": {"at_least": "8/10"}}}, False, 0.5, "c"),
        ({"every_row": {"passed": {"at_least": 0.5}}}, True, 0.5, ""),
        ({"every_row": {"mean": {"at_most": 0.9}}}, False, 1.0, "a"),
        ({"undecided_rows": {"at_most": 0}}, False, 1, "d"),
        ({"undecided_rows": {"at_most": 1}}, True, 1, ""),
        ({"cost_usd": {"total_at_most": 2}}, True, 2.0, ""),
        ({"cost_usd": {"total_at_most": 1.99}}, False, 2.0, "dcba"),
        ({"cost_usd": {"total_at_most": 5, "mean_at_most": 0.01}}, False, 0.0625, "dcba"),
        ({"duration_s": {"mean_at_most": 1}}, True, 0.625, ""),
        ({"duration_s": {"total_at_most": 10}}, False, 20.0, "dcba"),
    ],
)
def test_a_rule_gives_its_value_its_mark_and_the_rows_that_broke_it(
    rule: dict[str, Any], *, passed: bool, actual: float, rows: str
) -> None:
    result = judged(rule)
    assert (result.passed, ids(result)) == (passed, rows)
    assert result.actual == pytest.approx(actual)
    assert result.rule == rule


def test_rows_without_a_verdict_are_left_out_and_said() -> None:
    assert judged({"pass_rate": {"at_least": 0.1}}).reason == "1 row without a verdict left out"
    nothing = judged({"pass_rate": {"at_least": 0.1}}, facts_of(columns((0, 0, 3))))
    assert (nothing.passed, nothing.reason) == (None, "no row has a verdict")


def test_what_the_platform_left_undecided_does_not_count() -> None:
    facts = replace(FACTS, platform=frozenset({CaseKey("d")}))
    result = judged({"undecided_rows": {"at_most": 0}}, facts)
    assert (result.passed, result.actual) == (True, 0)
    assert "1 more were caused by the platform" in str(result.reason)


def test_filters_narrow_the_rows() -> None:
    labels = {CaseKey("a"): CaseLabels("test", ("billing",)), CaseKey("c"): CaseLabels("train", ())}
    facts = replace(FACTS, labels=labels)
    assert judged({"tag": "billing", "pass_rate": {"at_least": 1}}, facts).passed
    assert judged({"split": "train", "pass_rate": {"at_most": 0.5}}, facts).passed
    assert judged({"condition": "default", "pass_rate": {"at_least": 1}}, facts).passed is False
    attack = judged({"condition": "attack", "pass_rate": {"at_most": 0}}, facts)
    assert (attack.passed, attack.reason) == (None, "no row has condition attack")
    both = judged({"tag": "billing", "split": "train", "mean": {"at_least": 1}}, facts)
    assert both.reason == "no row has tag billing and split train"


def test_a_graders_pass_rate_is_not_its_mean() -> None:
    passes = {"exact": {CaseKey("a"): (1, 2), CaseKey("b"): (0, 0)}}
    facts = replace(FACTS, grader_passes=passes)
    assert judged({"grader": "exact", "pass_rate": {"at_most": 0.5}}, facts).actual == 0.5
    assert judged({"grader": "other", "mean": {"at_least": 0}}, facts).reason == (
        "no row has a score of other"
    )


def test_durations_that_are_not_known_are_not_nothing() -> None:
    def with_times(seconds: float | None, timed: int) -> GateFacts:
        totals = replace(FACTS.state.totals, duration_s=seconds, timed=timed)
        return replace(FACTS, state=replace(FACTS.state, totals=totals))

    rule = {"duration_s": {"total_at_most": 5}}
    assert judged(rule, with_times(None, 0)).reason == "no trial reported a duration"
    assert judged(rule, with_times(4.0, 3)).passed is None
    assert judged(rule, with_times(6.0, 3)).passed is False
    mean = judged({"duration_s": {"mean_at_most": 2}}, with_times(4.0, 3))
    assert (mean.passed, mean.actual) == (True, 4.0 / 3)


def test_costs_that_are_not_known_are_not_nothing() -> None:
    def with_costs(cost: float | None, costed: int) -> GateFacts:
        totals = replace(FACTS.state.totals, cost_usd=cost, costed=costed)
        return replace(FACTS, state=replace(FACTS.state, totals=totals))

    rule = {"cost_usd": {"total_at_most": 5}}
    assert judged(rule, with_costs(None, 0)).reason == "no trial reported a cost"
    partly = judged(rule, with_costs(4.0, 3))
    assert (partly.passed, partly.reason) == (None, "known for 3 of 32 trials")
    assert judged(rule, with_costs(6.0, 3)).passed is False
    assert judged({"cost_usd": {"mean_at_most": 2}}, with_costs(4.0, 3)).passed


def compared(
    a: ArmColumns, b: ArmColumns, labels: dict[str, CaseLabels] | None = None
) -> GateFacts:
    facts = facts_of(b)
    before = replace(facts.state, experiment=an_experiment(1, spec=SPEC, arms=("main",)))
    places = list(range(b.n))
    keyed = {CaseKey(name): label for name, label in (labels or {}).items()}
    rows = PairedRows(a, b, (places, places), (), (), frozenset(), keyed)
    sides = (Input(before, "main", "A"), Input(facts.state, "main", "B"))
    return replace(facts, comparison=compare(*sides, rows).comparison)


BEFORE = columns((1, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0))
AFTER = columns((1, 0, 0), (0, 1, 0), (0, 1, 0), (1, 0, 0))


@pytest.mark.parametrize(
    ("rule", "passed", "actual", "rows"),
    [
        ({"delta": {"pass_rate": {"at_least": -0.25}}}, True, -0.25, ""),
        ({"delta": {"pass_rate": {"at_least": -0.02}}}, False, -0.25, "b"),
        ({"delta": {"pass_rate": {"at_least": -0.25}, "by": "interval"}}, False, -0.25, "b"),
        ({"delta": {"pass_rate": {"at_least": -0.9}, "by": "interval"}}, True, -0.25, ""),
        ({"grader": "exact", "delta": {"mean": {"at_least": 0}}}, False, -0.25, "b"),
        ({"delta": {"broken": {"at_most": 0}}}, False, 1, "b"),
        ({"delta": {"broken": {"at_most": 1}}}, True, 1, ""),
        ({"delta": {"cost_ratio": {"at_most": 1.2}}}, True, 1.0, ""),
        ({"delta": {"duration_ratio": {"at_most": 0.5}}}, False, 1.0, ""),
    ],
)
def test_deltas_are_held_against_the_baseline(
    rule: dict[str, Any], *, passed: bool, actual: float, rows: str
) -> None:
    result = judged(rule, compared(BEFORE, AFTER))
    assert (result.passed, ids(result)) == (passed, rows)
    assert result.actual == pytest.approx(actual)


def test_a_delta_on_a_tag_is_that_of_its_rows() -> None:
    labels = {name: CaseLabels(None, ("billing",)) for name in "bc"}
    facts = compared(BEFORE, AFTER, labels)
    result = judged({"tag": "billing", "delta": {"pass_rate": {"at_least": 0}}}, facts)
    assert result.actual == pytest.approx(-0.5)
    other = judged({"tag": "other", "delta": {"pass_rate": {"at_least": 0}}}, facts)
    assert (other.passed, other.reason) == (None, "no row with a score is in both")


def test_deltas_need_a_baseline_that_is_comparable() -> None:
    rule = {"delta": {"pass_rate": {"at_least": 0}}}
    assert judged(rule).reason == "there is no baseline"
    facts = compared(columns((0, 0, 1)), columns((1, 0, 0)))
    assert "not comparable with the baseline" in str(judged(rule, facts).reason)
    unknown = columns((1, 0, 0), (1, 0, 0))
    unknown = replace(unknown, costs=[None, None])
    facts = compared(unknown, unknown)
    ratio = judged({"delta": {"cost_ratio": {"at_most": 1}}}, facts)
    assert (ratio.passed, ratio.reason) == (None, "the cost is not known on both sides")


KEPT = {"pass_rate": {"at_least": 0}}
BROKEN = {"name": "all pass", "pass_rate": {"at_least": 1}}
UNKNOWN = {"tag": "none", "mean": {"at_least": 0}}


@pytest.mark.parametrize(
    ("rules", "outcome", "reason"),
    [
        ([KEPT], Outcome.SHIP, "the rule is kept"),
        ([KEPT, KEPT], Outcome.SHIP, "all 2 rules are kept"),
        ([UNKNOWN, BROKEN, KEPT], Outcome.HOLD, "all pass: 76.67% over 3 rows"),
        ([UNKNOWN, KEPT], Outcome.TOO_FEW, "mean, tag none: at least 0: no row has tag none"),
    ],
)
def test_one_broken_rule_holds_and_an_unknown_one_does_not_ship(
    rules: list[dict[str, Any]], outcome: Outcome, reason: str
) -> None:
    decision = decide_release(evaluate(gate_rules(rules, "gate"), FACTS), FACTS)
    assert (decision.outcome, decision.reasons[0]) == (outcome, reason)
    assert decision.evidence["rules"] == len(rules)


def test_a_part_of_a_run_and_one_that_judged_nothing_decide_nothing() -> None:
    def decided(state: ExperimentState) -> Outcome:
        facts = replace(FACTS, state=state)
        return decide_release(evaluate(gate_rules([BROKEN], "gate"), facts), facts).outcome

    assert decided(replace(FACTS.state, status=Status.INTERRUPTED)) is Outcome.NO_VERDICT
    crashed = Totals(failed=3, causes={Cause.TASK: 3})
    assert decided(replace(FACTS.state, totals=crashed)) is Outcome.NO_VERDICT


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"grader": "exact", "pass_rate": {"at_least": 0.9}}, "pass rate of exact: at least 90%"),
        ({"every_row": {"passed": {"at_least": "8/10"}}}, "every row passed: at least 8/10"),
        ({"every_row": {"mean": {"at_least": 0.5}}}, "every row mean: at least 0.5"),
        (
            {"condition": "attack", "mean": {"at_least": 0, "at_most": 1}},
            "mean, condition attack: at least 0 and at most 1",
        ),
        (
            {"delta": {"pass_rate": {"at_least": -0.02}, "by": "interval"}},
            "pass rate against the baseline: at least -2 points for sure",
        ),
        ({"delta": {"broken": {"at_most": 2}}}, "broken against the baseline: at most 2"),
        ({"undecided_rows": {"at_most": 3}}, "undecided rows: at most 3"),
        (
            {"cost_usd": {"total_at_most": 5, "mean_at_most": 0.25}},
            "cost: at most $5.00 in all and $0.25 a trial",
        ),
        ({"duration_s": {"mean_at_most": 30}}, "duration: at most 30 s a trial"),
    ],
)
def test_a_rule_says_itself_in_words(rule: dict[str, Any], words: str) -> None:
    assert describe(gate_rules([rule], "gate")[0][0]) == words


@pytest.mark.parametrize(
    ("rules", "what"),
    [
        ({"mean": {"at_least": 1}}, "a list of objects"),
        ([1], "gate[0]: expected an object, got 1"),
        ([{}], "exactly one measure"),
        ([{"mean": {"at_least": 1}, "pass_rate": {"at_least": 1}}], "it has pass_rate, mean"),
        ([{"pass_rate": {}}], "needs 'at_least' or 'at_most'"),
        ([{"pass_rate": {"atleast": 1}}], "did you mean 'at_least'?"),
        ([{"passrate": {"at_least": 1}}], "did you mean 'pass_rate'?"),
        ([{"pass_rate": 0.9}], "gate[0].pass_rate: expected an object"),
        ([{"pass_rate": {"at_least": "often"}}], "'often' is no bound"),
        ([{"pass_rate": {"at_least": "1/0"}}], "'1/0' is no bound"),
        ([{"pass_rate": {"at_least": 1e999}}], "inf is no bound"),
        ([{"pass_rate": {"at_least": "1e999999999"}}], "'1e999999999' is no bound"),
        ([{"pass_rate": {"at_least": f"{10**400}/3"}}], "is no bound"),
        ([{"mean": {"at_least": 10**400}}], "out of range"),
        ([{"pass_rate": {"at_least": 90}}], "write 90% as 0.9"),
        ([{"tag": "x", "pass_rate": {"at_least": 1.5}}], "gate[0].pass_rate: 1.5 is out of range"),
        ([{"every_row": {"passed": {"at_least": "10/8"}}}], "10/8 is out of range"),
        ([{"undecided_rows": {"at_most": -1}}], "it must be 0 or more"),
        ([{"delta": {"pass_rate": {"at_least": -2}}}], "-2 is out of range"),
        ([{"delta": {"broken": {"at_most": -1}}}], "-1 is out of range"),
        ([{"delta": {"cost_ratio": {"at_most": -0.1}}}], "-0.1 is out of range"),
        ([{"pass_rate": {"at_least": 0.9, "at_most": 0.1}}], "'at_least' is above 'at_most'"),
        ([{"every_row": {}}], "exactly one of passed, mean"),
        ([{"grader": "no", "mean": {"at_least": 1}}], "there is no grader 'no'"),
        ([{"tag": "x", "cost_usd": {"total_at_most": 1}}], "takes no filter"),
        ([{"grader": "exact", "undecided_rows": {"at_most": 1}}], "takes no 'grader'"),
        ([{"cost_usd": {}}], "'total_at_most' or 'mean_at_most'"),
        ([{"cost_usd": {"total_at_most": -1}}], "at least 0"),
        ([{"delta": {"mean": {"at_least": 0}}}], "'mean' needs a 'grader'"),
        ([{"grader": "exact", "delta": {"pass_rate": {"at_least": 0}}}], "only 'mean' takes one"),
        ([{"tag": "x", "delta": {"broken": {"at_most": 0}}}], "only 'pass_rate' takes a filter"),
        ([{"delta": {"broken": {"at_most": 0}, "by": "interval"}}], "no interval of broken"),
        ([{"delta": {"pass_rate": {"at_most": 0}, "by": "luck"}}], "luck"),
    ],
)
def test_a_rule_that_means_nothing_is_refused(rules: Any, what: str) -> None:
    with pytest.raises(UsageError) as caught:
        gate_rules(rules, "gate", ["exact"])
    assert what in str(caught.value)

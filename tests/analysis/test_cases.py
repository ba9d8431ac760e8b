from fairtrial.analysis.cases import match
from fairtrial.analysis.flips import flips, pass_matrix
from fairtrial.analysis.pass_metrics import rows_pass_metrics
from fairtrial.model.case import CaseKey
from fairtrial.model.row import Row
from fairtrial.stats.trials import from_counts


def _row(case: str, passed: int, failed: int, undecided: int = 0) -> Row:
    return Row(CaseKey(case), "main", passed, failed, undecided, None, 0, 1.0, 1, None, None)


def _arm(*rows: Row) -> dict[CaseKey, Row]:
    return {row.key: row for row in rows}


def test_only_cases_decided_in_both_arms_are_compared_and_the_rest_is_listed() -> None:
    shared = match(
        _arm(_row("a", 2, 1), _row("b", 0, 0, 3), _row("c", 1, 1), _row("gone", 3, 0)),
        _arm(_row("new", 1, 0), _row("c", 0, 2), _row("b", 3, 0), _row("a", 3, 0)),
    )
    assert shared.keys == (CaseKey("a"), CaseKey("c"))
    assert shared.baseline.total.tolist() == [2.0, 1.0]
    assert shared.candidate.trials.tolist() == [3.0, 2.0]
    assert shared.added == (CaseKey("new"),)
    assert shared.dropped == (CaseKey("gone"),)
    assert shared.undecided == (CaseKey("b"),)
    assert shared.lost == (3 / 11, 0.0)
    assert len(shared.warnings) == 2
    assert "27 % of the baseline's" in shared.warnings[0]


def test_arms_that_lost_nothing_give_no_warning() -> None:
    assert match(_arm(_row("a", 1, 0)), _arm(_row("a", 1, 0))).warnings == ()
    assert match({}, {}).lost == (None, None)


def test_flips_and_matrix() -> None:
    a, b = from_counts([3, 0, 2, 1], [3] * 4), from_counts([1, 2, 2, 1], [3] * 4)
    found = flips(a, b)
    assert found.fixed.tolist() == [1]
    assert found.broken.tolist() == [0]
    assert (found.net, found.solved_baseline, found.solved_candidate) == (0, 2, 2)
    assert "1 cases fixed and 1 broken of 4" in found.describe()
    assert pass_matrix(a, b) == {(3, 1): 1, (0, 2): 1, (2, 2): 1, (1, 1): 1}


def test_pass_metrics_of_rows_leave_undecided_trials_out() -> None:
    found = rows_pass_metrics([_row("a", 1, 1, 4), _row("b", 0, 0, 3)], [1, 2])
    assert found.n == 1
    assert found.at[2].estimate == 1.0

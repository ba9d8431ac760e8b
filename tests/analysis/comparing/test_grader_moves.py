"""What became of the rows of each grader."""

from __future__ import annotations

from tests.analysis.comparing.conftest import arm, cases, paired, side

from fairtrial.analysis.comparing.compare import compare
from fairtrial.analysis.comparing.grader_moves import grader_moves


def test_rows_are_counted_by_what_became_of_their_score() -> None:
    trials = cases([1] * 5, 1)
    names = list(trials)
    before = dict.fromkeys(names, 0.5)
    after = {names[0]: 0.75, names[1]: 0.25, names[2]: 0.2, names[3]: 0.5 + 1e-12}
    spec = {"graders": [{"name": "fluency", "kind": "judge", "required": False}]}
    found = compare(
        side("a", spec=spec),
        side("b", spec=spec),
        paired(arm(trials, graders={"fluency": before}), arm(trials, graders={"fluency": after})),
    )
    moved = grader_moves(found)["fluency"]
    assert (moved.improved, moved.regressed, moved.same) == (1, 2, 1)

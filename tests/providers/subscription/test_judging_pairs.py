"""A judge of pairs on a subscription: what runs for it ends with it."""

from __future__ import annotations

import json

from tests.providers.subscription.lab import Lab
from tests.providers.subscription.test_codex_events import USAGE, item, printed

from fairtrial.app.bench import SystemClock
from fairtrial.graders.pairwise.judge import PairwiseJudge
from fairtrial.graders.pairwise.judging import Pace, judge_pairs
from fairtrial.graders.pairwise.spec import pairwise_spec
from fairtrial.model.case import CaseKey
from fairtrial.model.pairwise import Pair


def test_the_place_where_its_programs_run_is_closed_after_each_judge(lab: Lab) -> None:
    lab.log_in("codex")
    said = json.dumps({"reason": "as good", "winner": "tie"})
    done = {"type": "turn.completed", "usage": USAGE}
    program = lab.printing(printed(item("agent_message", text=said), done))
    provider = lab.provider("codex", program)
    workspace = provider._surroundings.workspace  # type: ignore[attr-defined]
    spec = {"kind": "pairwise", "name": "j", "rubric": "r", "provider": {"kind": "codex"}}
    judge = PairwiseJudge(pairwise_spec(spec, "test"), provider, SystemClock(), 0)
    for _ in range(2):  # judges follow each other in the same place
        (found,) = judge_pairs(
            judge, [Pair(CaseKey("c"), "q", "a", "b")], Pace(), workspace=workspace
        )
        assert found.winner == "tie"
        assert lab.left() == []
        assert not workspace._open

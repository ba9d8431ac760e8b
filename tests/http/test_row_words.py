"""A row in words."""

from __future__ import annotations

from datetime import UTC, datetime

from fairtrial.http.web.row_words import moment_of, trial_view
from fairtrial.model.case import Case
from fairtrial.model.json import Json
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.model.verdict import Verdict

SAID = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "so"}]


def trial(output: Json) -> Trial:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Trial(
        key=TrialKey("a", "default", "main", 1),
        verdict=Verdict.PASSED,
        cause=None,
        reason=None,
        score=None,
        scores=(),
        output=output,
        started_at=now,
        duration_s=1.0,
        tries=1,
        seed=1,
    )


def test_a_decision_point_is_told_by_what_the_agent_did() -> None:
    decision: Json = {"behavior": "unverified-claim", "bad": True, "summary": "claims: done"}
    case = Case("a", "x", None, {"decision": decision, "fidelity": "exact"})
    told = moment_of(case)
    assert told is not None
    assert "unverified-claim: went wrong when it was recorded (claims: done)" in told
    assert told.endswith("exact")
    for other in ({}, {"decision": 5}, {"decision": {"bad": "yes"}}):
        assert moment_of(Case("a", "x", None, other)) is None


def test_a_conversation_is_told_once() -> None:
    view = trial_view(trial({"answer": "so", "messages": SAID}))
    assert [step.role for step in view.steps] == ["user", "assistant"]
    assert view.output is not None
    assert view.output.text == '{\n  "answer": "so"\n}'
    for alone in ({"messages": SAID}, SAID):
        view = trial_view(trial(alone))
        assert (len(view.steps), view.output) == (2, None)


def test_a_turn_is_told_by_what_it_says_and_calls() -> None:
    use = {"id": "t", "name": "Bash", "input": {"command": "ls"}}
    view = trial_view(trial({"text": "Now.", "tool_uses": [use], "stop": "tool_use"}))
    assert [step.role for step in view.steps] == ["assistant", "calls Bash"]
    assert view.output is None
    view = trial_view(trial({"text": "Now.", "tool_uses": 7, "stop": "end"}))
    assert not view.steps
    assert view.output is not None


def test_what_is_no_conversation_is_told_whole() -> None:
    view = trial_view(trial({"messages": ["why?"]}))
    assert not view.steps
    assert view.output is not None
    assert "why?" in view.output.text


def test_only_what_looks_like_a_session_is_one() -> None:
    assert trial_view(trial({"session": "ses_0123456789"})).session == "ses_0123456789"
    for other in ("../x", "ses_x/../..", 7, None, "ses_" + "x" * 1_000):
        assert trial_view(trial({"session": other})).session is None

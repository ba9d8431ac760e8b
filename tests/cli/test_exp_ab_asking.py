"""`exp ab`: who is asked for the next turns, who judges them, and what is said when nobody can."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.cli.test_exp_ab import ANCHOR, RUN, Home, home

from fairtrial.app.ab_asking import Answering, answering
from fairtrial.app.ab_cases import ab_cases
from fairtrial.app.bench import bench_here
from fairtrial.app.deciding import Sought, decisions
from fairtrial.app.decision_options import DecisionSelection
from fairtrial.app.requests.exp_ab import Request
from fairtrial.model.call import Api
from fairtrial.model.next_turn import Fidelity
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer, ScriptedRequest

__all__ = ["home"]


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a key nor a login."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_model_the_judge_is_the_one_that_most_decisions_were_made_with(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.edit(RUN)
    (home.path / "anchor.py").write_text(ANCHOR)
    judged: list[object] = []

    def model(request: ScriptedRequest) -> ScriptedAnswer:
        if "Bad: the turn says" not in json.dumps(request.body):
            return ScriptedAnswer("Done!")
        judged.append(request.body["model"])
        return ScriptedAnswer('{"reason": "r", "choice": "bad"}')

    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key")
    words = ("--anchor", str(home.path / "anchor.py"), "--behavior", "boasting", "--limit", "1")
    with ModelServer(model) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        plan = home.ab(*words, "--dry-run", "--json", model=False)
        done = home.ab(*words, "--json", model=False)
    assert plan.json["cost"]["most_usd"] is not None, plan.json
    assert done.json["behaviors"][0]["undecided"] == 0, done.out
    assert set(judged) == {"claude-sonnet-5-5"}


@pytest.mark.usefixtures("nobody")
def test_a_dry_run_without_a_key_tells_the_cost_and_that_nobody_can_be_asked(home: Home) -> None:
    home.edit(RUN)
    done = home.ab("--dry-run", "--json", model=False)
    assert done.json["cost"]["most_usd"] > 0, done.out
    (note,) = done.json["notes"]
    assert note.startswith("nobody can be asked yet: ANTHROPIC_API_KEY is not set")


@pytest.mark.usefixtures("nobody")
def test_who_can_ask_nobody_is_told_the_ways_and_no_model_that_was_not_named(home: Home) -> None:
    home.edit(RUN)
    done = home.ab(model=False)
    assert done.code == 64
    assert "nobody can be asked" in done.err
    assert "set ANTHROPIC_API_KEY" in done.err
    assert "--provider NAME" in done.err


def test_a_provider_that_does_not_answer_for_an_agent_is_named(home: Home) -> None:
    home.edit(RUN)
    done = home.ab("--provider", "codex", "--dry-run", model=False)
    assert done.code == 66
    assert "codex does not answer for their agent" in done.err
    assert "anthropic or claude-code does" in done.err


def test_the_judge_is_asked_where_the_decisions_are_whatever_agent_comes_first(home: Home) -> None:
    home.edit(RUN)
    answers = Answering(
        {
            Api.OPENAI_RESPONSES: {"kind": "openai"},
            Api.ANTHROPIC_MESSAGES: {"kind": "anthropic"},
        },
        None,
        {},
        (),
    )
    bench = bench_here()
    try:
        found = decisions(bench, DecisionSelection(since="3650d"), Sought.BOTH)
        cases = ab_cases(bench, found.chosen, found.anchors, answers.asked())
    finally:
        bench.close()
    judge = {"provider": {"kind": "anthropic"}, "model": "claude-sonnet-5-5"}
    assert answers.judge_of(cases) == judge


def test_a_judge_that_is_named_is_asked_where_it_is(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.edit(RUN)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "not-a-key")
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    bench = bench_here()
    try:
        found = decisions(bench, DecisionSelection(since="3650d"), Sought.BOTH)
        request = Request(judge_model="gpt-6-sol")
        answers = answering(bench, request, found.chosen)
    finally:
        bench.close()
    assert answers.judge_of([]) == {"provider": {"kind": "openai"}, "model": "gpt-6-sol"}


def test_what_cannot_change_when_it_is_resumed_is_refused(home: Home) -> None:
    home.edit(RUN)
    done = home.ab("--limit", "1", "--json")
    name = done.json["experiment"]["id"]
    again = home.ab("--resume", name, "--trials", "9", "--judge-model", "x", model=False)
    assert again.code == 64
    assert "--trials, --judge-model cannot change what is resumed" in again.err


def test_a_session_that_is_resumed_is_no_exact_request(home: Home) -> None:
    home.edit(RUN)
    answers = Answering({Api.ANTHROPIC_MESSAGES: {"kind": "claude-code"}}, None, {}, ())
    bench = bench_here()
    try:
        found = decisions(bench, DecisionSelection(since="3650d"), Sought.BOTH)
        case = ab_cases(bench, found.chosen, found.anchors, answers.asked())[0]
    finally:
        bench.close()
    exact = replace(case, turn=replace(case.turn, fidelity=Fidelity.EXACT))
    ((asked,), _) = answers.answered([exact])
    assert asked.fidelity is Fidelity.CONVERSATION
    assert asked.case.metadata["fidelity"] == "conversation"
    assert "resumes the session" in str(asked.case.metadata["fidelity_why"])

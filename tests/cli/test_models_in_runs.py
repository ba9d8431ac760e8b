"""Prompt tasks and judges in whole runs, over the real wire formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command

from fairtrial.model.call import StopReason, ToolUse
from fairtrial.testing.model_server import Fault, ModelServer, ScriptedAnswer, ScriptedRequest

CAPITALS = {"France": "Paris", "Italy": "Milan", "Spain": "Madrid"}
TRUTH = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid"}


def answers(request: ScriptedRequest) -> ScriptedAnswer:
    """Answer a question about a capital, or judge such an answer."""
    words = request.text
    if "Judge the output." not in words:
        return ScriptedAnswer(next(CAPITALS[name] for name in CAPITALS if name in words))
    country = next(name for name in TRUTH if name in words)
    verdict = "right" if TRUTH[country] == CAPITALS[country] else "wrong"
    return ScriptedAnswer(json.dumps({"reason": "I looked it up.", "choice": verdict}))


@pytest.fixture
def capitals(fairtrial: Command, folder: Path) -> Command:
    cases = [
        {"id": name, "input": {"country": name}, "expected": city} for name, city in TRUTH.items()
    ]
    lines = "\n".join(json.dumps(case) for case in cases)
    (folder / "cases.jsonl").write_text(lines, encoding="utf-8")
    assert fairtrial("dataset", "add", "capitals", "cases.jsonl").code == 0
    return fairtrial


Serve = Callable[..., ModelServer]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Start model servers that an environment with keys leads to."""
    started: list[ModelServer] = []

    def start(script: Any = answers) -> ModelServer:
        server = ModelServer(script)
        server.__enter__()
        started.append(server)
        for name, url in (("ANTHROPIC", server.url), ("OPENAI", server.v1_url)):
            monkeypatch.setenv(f"{name}_API_KEY", "key-of-a-test")
            monkeypatch.setenv(f"{name}_BASE_URL", url)
        return server

    yield start
    for server in started:
        server.__exit__(None, None, None)


def written(folder: Path, **changes: Any) -> str:
    """Write a spec; `task` and `judge` change these."""
    task = {"kind": "prompt", "template": "Capital of {{ country }}?", "model": "claude-haiku-4-5"}
    judge = {
        "kind": "judge",
        "rubric": "The capital is right.",
        "choices": ["right", "wrong"],
        "model": "claude-haiku-4-5",
    }
    spec: dict[str, Any] = {
        "dataset": "capitals",
        "task": {**task, **changes.pop("task", {})},
        "graders": changes.pop("graders", [{**judge, **changes.pop("judge", {})}]),
        **changes,
    }
    (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    return "spec.json"


def trials(fairtrial: Command, *names: str) -> list[Mapping[str, Any]]:
    return [
        trial
        for name in names or tuple(TRUTH)
        for trial in fairtrial("exp", "show", "capitals", "--case", name, "--json").json["trials"]
    ]


@pytest.mark.parametrize("provider", ["anthropic", "openai", {"kind": "openai", "api": "chat"}])
def test_a_model_answers_and_another_judges(
    capitals: Command, folder: Path, serve: Serve, provider: Any
) -> None:
    server = serve()
    chosen = {"provider": provider}
    done = capitals("exp", "run", written(folder, task=chosen, judge={**chosen, "samples": 2}))
    assert done.code == 0, done.err
    assert len(server.calls) == 3 * 3
    by_case = {trial["case_id"]: trial for trial in trials(capitals)}
    assert {name: trial["verdict"] for name, trial in by_case.items()} == {
        "France": "passed",
        "Italy": "failed",
        "Spain": "passed",
    }
    italy = by_case["Italy"]
    assert italy["reason"] == "judge: 2 of 2 say wrong: I looked it up."
    assert italy["output"] == "Milan"
    assert italy["tokens"]["input"] == 100
    assert italy["spans"] == [{"name": "model call", "model": "claude-haiku-4-5", "stop": "end"}]
    (score,) = italy["scores"]
    assert [answer["said"] for answer in score["detail"]["answers"]] == ["wrong", "wrong"]
    text = capitals("exp", "show", "capitals", "--case", "Italy").out
    assert "#1  wrong: I looked it up." in text
    assert "#2  wrong: I looked it up." in text


def test_what_is_chosen_is_said_and_stored(capitals: Command, folder: Path, serve: Serve) -> None:
    serve()
    done = capitals("exp", "run", written(folder), "--json")
    assert done.code == 0
    line = "provider: anthropic (ANTHROPIC_API_KEY is set"
    assert done.err.count(line) == 1  # it is the same for the task and for the judge
    spec = done.json["spec"]
    assert spec["arms"]["main"]["provider"] == {"kind": "anthropic"}
    assert spec["graders"][0]["provider"] == {"kind": "anthropic"}
    assert spec["graders"][0]["version"] == 1
    assert "key-of-a-test" not in done.out + done.err


def test_a_regrade_asks_only_in_its_further_rounds(
    capitals: Command, folder: Path, serve: Serve
) -> None:
    server = serve()
    capitals("exp", "run", written(folder))
    assert len(server.calls) == 6
    assert capitals("exp", "regrade", "capitals").code == 0
    assert len(server.calls) == 6  # the same question: answered from what is kept
    assert capitals("exp", "regrade", "capitals", "--k", "3").code == 0
    assert len(server.calls) == 6 + 2 * 3


def test_a_judge_that_could_not_answer_is_asked_again_by_a_regrade(
    capitals: Command, folder: Path, serve: Serve
) -> None:
    mute = True

    def script(request: ScriptedRequest) -> ScriptedAnswer:
        judging = "Judge the output." in request.text
        return ScriptedAnswer("well…") if judging and mute else answers(request)

    server = serve(script)
    capitals("exp", "run", written(folder), "--case", "France")
    assert trials(capitals, "France")[0]["verdict"] == "undecided"
    mute, before = False, len(server.calls)
    done = capitals("exp", "regrade", "capitals", "--json")
    assert (done.json["experiment"]["passed"], len(server.calls)) == (1, before + 1)


def test_another_rubric_is_another_grader(capitals: Command, folder: Path, serve: Serve) -> None:
    serve()
    capitals("exp", "run", written(folder), "--name", "one")
    capitals("exp", "run", written(folder, judge={"rubric": "It is a city."}), "--name", "two")
    done = capitals("exp", "compare", "one", "two")
    assert "other grader version: grader judge has rubric" in done.out
    capitals("exp", "run", written(folder, judge={"model": "claude-x"}), "--name", "three")
    done = capitals("exp", "compare", "one", "three")
    assert "other judge model: grader judge has model" in done.out


EXACT: dict[str, Any] = {"graders": ["exact"]}


@pytest.mark.parametrize(
    ("task", "answer", "verdict", "reason"),
    [
        ({"max_tokens": 5}, ScriptedAnswer("Par", stop=StopReason.LENGTH), "failed", "expected"),
        ({}, ScriptedAnswer("I won't.", stop=StopReason.REFUSAL), "failed", "expected"),
        (
            {"response_schema": {"type": "object"}},
            ScriptedAnswer("Paris"),
            "failed",
            "the answer is no JSON",
        ),
        ({}, ScriptedAnswer(status=404, error="no such model"), "failed", "no such model"),
        ({}, ScriptedAnswer(status=400, error="bad parameter"), "failed", "bad parameter"),
        ({}, ScriptedAnswer(status=529, error="overloaded"), "undecided", "overloaded"),
        ({}, ScriptedAnswer(fault=Fault.CUT_STREAM), "undecided", ""),
    ],
    ids=["cut", "refusal", "off the schema", "404", "400", "529", "cut stream"],
)
def test_every_ending_has_its_place_in_the_verdict_table(  # noqa: PLR0917  # pytest names them
    capitals: Command,
    folder: Path,
    serve: Serve,
    task: dict[str, Any],
    answer: ScriptedAnswer,
    verdict: str,
    reason: str,
) -> None:
    serve([answer])
    spec = written(folder, task=task, **EXACT, retries=0, stop_after_infra=0)
    capitals("exp", "run", spec, "--case", "France")
    (trial,) = trials(capitals, "France")
    assert trial["verdict"] == verdict
    assert reason in trial["reason"]


def test_a_rate_limit_is_waited_for(capitals: Command, folder: Path, serve: Serve) -> None:
    limited = ScriptedAnswer(status=429, headers={"retry-after": "0"})
    server = serve([limited, limited, ScriptedAnswer("Paris")])
    done = capitals("exp", "run", written(folder, **EXACT), "--case", "France")
    assert done.code == 0
    assert (trials(capitals, "France")[0]["tries"], len(server.calls)) == (3, 3)


def test_a_resume_of_a_run_without_kept_answers_asks_anew_too(
    capitals: Command, folder: Path, serve: Serve
) -> None:
    troubled: list[bool] = []
    down = ScriptedAnswer(status=500, error="out of order")
    server = serve(lambda request: down if troubled else answers(request))
    spec = written(folder, **EXACT, retries=0, stop_after_infra=1)
    assert capitals("exp", "run", spec).code == 0
    troubled.append(True)
    assert capitals("exp", "run", spec, "--no-cache", "--name", "anew").code == 4
    troubled.clear()
    before = len(server.calls)
    assert capitals("exp", "run", "--resume", "anew", "--retry-errors").code == 0
    assert len(server.calls) == before + 3


def test_a_resume_goes_on_with_the_texts_that_the_run_began_with(
    capitals: Command, folder: Path, serve: Serve
) -> None:
    down = ScriptedAnswer(status=500, error="out of order")
    server: ModelServer = serve(
        lambda request: down if len(server.calls) <= 1 else answers(request)
    )
    (folder / "ask.md").write_text("Capital of {{ country }}, in a word?", encoding="utf-8")
    (folder / "rubric.md").write_text("The capital is right.", encoding="utf-8")
    files = {"task": {"template": "@ask.md"}, "judge": {"rubric": "@rubric.md"}}
    spec = written(folder, **files, retries=0, stop_after_infra=1)
    stopped = capitals("exp", "run", spec, "-c", "1", "--json")
    assert (stopped.code, stopped.json["status"]) == (4, "stopped")
    for name in ("ask.md", "rubric.md", spec):
        (folder / name).unlink()
    done = capitals("exp", "run", "--resume", stopped.json["id"], "--json")
    assert (done.code, done.json["passed"], done.json["failed"]) == (0, 2, 1)
    assert all(
        "in a word?" in call.text or "The capital is right." in call.text for call in server.calls
    )


def test_a_refused_login_of_a_judge_stops_the_run(
    capitals: Command, folder: Path, serve: Serve
) -> None:
    def script(request: ScriptedRequest) -> ScriptedAnswer:
        judging = "Judge the output." in request.text
        return ScriptedAnswer(status=401, error="invalid key") if judging else answers(request)

    server = serve(script)
    done = capitals("exp", "run", written(folder), "-c", "1")
    assert done.code == 4
    assert "invalid key" in done.out
    assert sum("Judge the output." in call.text for call in server.calls) == 1


def test_a_model_that_hangs_ends_at_the_trials_limit(
    capitals: Command, folder: Path, serve: Serve
) -> None:
    serve([ScriptedAnswer(fault=Fault.HANG)])
    spec = written(folder, **EXACT, trial_timeout=0.5)
    capitals("exp", "run", spec, "--case", "France")
    (trial,) = trials(capitals, "France")
    assert (trial["verdict"], trial["cause"]) == ("failed", "limit")


def test_tools_that_are_asked_for_are_the_output(
    capitals: Command, folder: Path, serve: Serve
) -> None:
    serve([ScriptedAnswer("", tool_uses=(ToolUse("t1", "look_up", {"country": "France"}),))])
    tool = {"name": "look_up", "description": "Look up a capital.", "input_schema": {}}
    grader = {"kind": "json", "path": "/tool_uses/0/name", "value": "look_up"}
    spec = written(folder, task={"tools": [tool]}, graders=[grader])
    done = capitals("exp", "run", spec, "--case", "France")
    (trial,) = trials(capitals, "France")
    assert (done.code, trial["verdict"]) == (0, "passed"), trial
    assert trial["output"]["tool_uses"][0]["input"] == {"country": "France"}


def test_a_template_that_cannot_be_filled_is_told_before_the_run(
    capitals: Command, folder: Path, serve: Serve
) -> None:
    server = serve()
    done = capitals("exp", "run", written(folder, task={"template": "Of\n{{ town }}?"}))
    assert done.code == 64
    assert "template, line 2: 'town' is undefined" in done.err
    assert server.calls == []
    assert capitals("exp", "list", "--json").json["experiments"] == []

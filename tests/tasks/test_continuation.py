"""Recorded steps put to a model again, over the real wire formats."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.tasks.conftest import RunTask

from fairtrial.model.call import Api, ToolUse
from fairtrial.model.case import Case
from fairtrial.model.errors import InfraError, TaskError, UsageError
from fairtrial.model.json import Json
from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.tasks.registry import TASKS, task_spec
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer

ASKED: dict[Api, dict[str, Json]] = {
    Api.ANTHROPIC_MESSAGES: {
        "model": "m-1",
        "max_tokens": 100,
        "stream": True,
        "system": "Be kind.",
        "messages": [{"role": "user", "content": "Run the tests."}],
    },
    Api.OPENAI_RESPONSES: {"model": "m-1", "stream": True, "input": "Run the tests."},
    Api.OPENAI_CHAT: {"model": "m-1", "messages": [{"role": "user", "content": "Run them."}]},
}
TURN = ScriptedAnswer("Now:", tool_uses=(ToolUse("t1", "Bash", {"command": "make test"}),))


def call(given: Json, trial: int = 1) -> TaskCall:
    return TaskCall(Case("c1", given, expected="never sent"), "main", trial, 1, 7)


def step(api: Api = Api.ANTHROPIC_MESSAGES) -> Json:
    return {"api": api.value, "body": ASKED[api], "headers": {"anthropic-beta": "b-1"}}


def environ(server: ModelServer) -> dict[str, str]:
    return {
        "ANTHROPIC_API_KEY": "k",
        "OPENAI_API_KEY": "k",
        "ANTHROPIC_BASE_URL": server.url,
        "OPENAI_BASE_URL": server.v1_url,
    }


@pytest.mark.parametrize("api", Api)
def test_the_next_turn_is_the_output_and_no_tool_runs(run_task: RunTask, api: Api) -> None:
    with ModelServer([TURN]) as server:
        [result] = run_task({"kind": "continuation"}, call(step(api)), environ=environ(server))
    assert isinstance(result, TaskResult)
    assert result.output["text"] == "Now:"
    [use] = result.output["tool_uses"]
    assert (use["name"], use["input"]) == ("Bash", {"command": "make test"})
    assert result.output["stop"] == "tool_use"
    assert result.tokens is not None
    [request] = server.requests
    assert request.body == ASKED[api]


def test_fields_are_varied_and_files_read(run_task: RunTask, tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("Be brief.")
    spec = {"kind": "continuation", "vary": {"model": "m-2", "system": "@prompt.md"}}
    with ModelServer([TURN]) as server:
        run_task(spec, call(step()), environ=environ(server))
    [request] = server.requests
    assert request.body == {
        **ASKED[Api.ANTHROPIC_MESSAGES],
        "model": "m-2",
        "system": "Be brief.",
    }
    assert request.headers["anthropic-beta"] == "b-1"


@pytest.mark.parametrize(
    "given", ["text", {}, {"api": "smoke-signals", "body": {}}, {"api": "openai-chat"}]
)
def test_a_case_without_a_recorded_request_fails(run_task: RunTask, given: Json) -> None:
    [error] = run_task({"kind": "continuation"}, call(given))
    assert isinstance(error, TaskError)
    assert "holds no recorded request" in str(error)


def test_a_change_that_leads_nowhere_fails_the_trial(run_task: RunTask) -> None:
    [error] = run_task({"kind": "continuation", "vary": {"model.x": 1}}, call(step()))
    assert isinstance(error, TaskError)
    assert "cannot be varied" in str(error)


def test_a_refused_request_fails_and_trouble_of_the_world_does_not(run_task: RunTask) -> None:
    with ModelServer([ScriptedAnswer(status=400, error="no such field")]) as server:
        [refused] = run_task({"kind": "continuation"}, call(step()), environ=environ(server))
    assert isinstance(refused, TaskError)
    assert "no such field" in str(refused)
    with ModelServer([ScriptedAnswer(status=529)]) as server:
        [down] = run_task({"kind": "continuation"}, call(step()), environ=environ(server))
    assert isinstance(down, InfraError)


def test_a_missing_key_is_told_only_when_it_is_needed(run_task: RunTask) -> None:
    [error] = run_task({"kind": "continuation"}, call(step()), environ={})
    assert isinstance(error, InfraError)
    assert error.kind == "login"
    assert "ANTHROPIC_API_KEY" in str(error)


def test_the_plan_keeps_the_texts_of_files(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("@home")
    options: dict[str, Any] = {"vary": {"system": "@prompt.md", "top_p": 0.5}}
    settled, notes = TASKS.settled("continuation", options, (tmp_path, {}), "spec")
    assert settled == {"vary": {"system": "@@home", "top_p": 0.5}}
    assert list(notes) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vary": {"": 1}}, "no name"),
        ({"vary": {"a..b": 1}}, "no name"),
        ({"provider": "smoke"}, "unknown provider 'smoke'"),
    ],
)
def test_what_makes_no_sense_is_refused(
    run_task: RunTask, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        run_task({"kind": "continuation", **options}, call(step()))


def test_its_name_is_known() -> None:
    assert task_spec({"kind": "continuation"}, "spec").kind == "continuation"


@pytest.mark.parametrize("api", Api)
def test_a_trial_may_have_its_own_address(run_task: RunTask, api: Api) -> None:
    with ModelServer([TURN]) as usual, ModelServer([TURN]) as own:
        addresses = {"ANTHROPIC_BASE_URL": own.url, "OPENAI_BASE_URL": own.v1_url}
        there = replace(call(step(api)), environ=addresses)
        [result] = run_task({"kind": "continuation"}, there, environ=environ(usual))
    assert isinstance(result, TaskResult)
    assert (len(usual.requests), len(own.requests)) == (0, 1)


def _told_of(api: Api, agent: str, at: list[Json]) -> Json:
    place = {"agent": agent, "root": "/home/dev/shop", "cwd": ".", "at": at}
    given = step(api)
    assert isinstance(given, dict)
    return {**given, "harness": place}


@pytest.mark.parametrize(
    ("api", "agent", "file"),
    [
        (Api.ANTHROPIC_MESSAGES, "claude-code", "CLAUDE.md"),
        (Api.OPENAI_RESPONSES, "codex", "AGENTS.md"),
    ],
)
def test_the_model_is_told_of_the_arms_harness(
    run_task: RunTask, api: Api, agent: str, file: str
) -> None:
    given = _told_of(api, agent, [])
    with ModelServer([TURN]) as server:
        spec = {"kind": "continuation", "harness": {file: "- Never guess."}}
        [result] = run_task(spec, call(given), environ=environ(server))
        [request] = server.calls
    assert isinstance(result, TaskResult)
    assert "- Never guess." in request.text


def test_a_harness_from_a_folder_is_settled_to_its_texts(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("@not-a-file", encoding="utf-8")
    options, _ = TASKS.settled("continuation", {"harness": "."}, (tmp_path, {}), "task")
    assert options["harness"] == {"CLAUDE.md": "@@not-a-file"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (None, "does not say where"),
        ({"agent": "claude-code"}, "agent, root, cwd and at"),
        (
            {"agent": "claude-code", "root": "/r", "cwd": ".", "at": [["messages", 9]]},
            "no text at messages.9",
        ),
        (
            {"agent": "claude-code", "root": "/r", "cwd": ".", "at": ["x"]},
            "list of names and positions",
        ),
    ],
)
def test_a_case_without_a_place_for_a_harness_is_told(
    run_task: RunTask, given: Json, why: str
) -> None:
    asked = step()
    assert isinstance(asked, dict)
    case = asked if given is None else {**asked, "harness": given}
    with ModelServer([]) as server:
        spec = {"kind": "continuation", "harness": {"CLAUDE.md": "x"}}
        [error] = run_task(spec, call(case), environ=environ(server))
    assert isinstance(error, TaskError)
    assert why in str(error)


def test_each_api_has_a_provider_of_its_own(run_task: RunTask) -> None:
    rules = [{"reply": {"text": "scripted", "tool_uses": [{"name": "Bash", "input": {}}]}}]
    fake = {"kind": "fake", "rules": rules}
    spec = {"kind": "continuation", "providers": {"openai-responses": fake}}
    with ModelServer([TURN]) as server:
        results = run_task(
            spec,
            call(step(Api.OPENAI_RESPONSES)),
            call(step(Api.ANTHROPIC_MESSAGES)),
            environ=environ(server),
        )
    texts = [result.output["text"] for result in results if isinstance(result, TaskResult)]
    assert texts == ["scripted", "Now:"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"providers": {"nonsense": "fake"}}, "is no API"),
        ({"provider": "fake", "providers": {"openai-chat": "fake"}}, "either provider or"),
    ],
)
def test_providers_that_make_no_sense_are_told(
    run_task: RunTask, options: dict[str, Json], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        run_task({"kind": "continuation", **options}, call(step()))

"""A prompt task asks a model what its templates say, and keeps what it answered."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.graders.scripted import Scripted

from fairtrial.model.call import ModelCall, ModelReply, StopReason, ToolUse
from fairtrial.model.case import Case
from fairtrial.model.errors import InfraError, ProviderError, TaskError, TrialTimeout, UsageError
from fairtrial.model.json import Json
from fairtrial.model.task import EarlierAttempt, Reused, TaskCall, TaskResult, Tokens
from fairtrial.ports import Surroundings
from fairtrial.schema.text_files import text_kept
from fairtrial.tasks.prompt import PromptTask
from fairtrial.tasks.registry import TASKS, build_task, rehearse_task, task_spec
from fairtrial.testing.task import call_of
from fairtrial.workspaces.host.client import HostWorkspace

CAPITAL = Case("fr", {"country": "France", "items": [1, 2]}, "Paris", {"hint": "P"}, ("geo",))


def task_of(folder: Path, provider: Scripted | None = None, /, **options: Any) -> PromptTask:
    spec = task_spec({"kind": "prompt", "provider": "fake", **options}, "spec")
    surroundings = Surroundings(folder, os.environ, HostWorkspace(slots=1))
    task = build_task(spec, surroundings, "spec")
    assert isinstance(task, PromptTask)
    return task if provider is None else replace(task, provider=provider)


def call(case: Case = CAPITAL, **about: Any) -> TaskCall:
    return TaskCall(case, "main", about.pop("trial", 1), 1, 7, **about)


def run(task: PromptTask, case: Case = CAPITAL, **about: Any) -> TaskResult:
    return asyncio.run(task.run(call(case, **about)))


def asked(folder: Path, case: Case = CAPITAL, /, **options: Any) -> ModelCall:
    provider = Scripted("ok")
    run(task_of(folder, provider, **options), case)
    return provider.calls[0]


def reply(text: str = "ok", stop: StopReason = StopReason.END, **about: Any) -> ModelReply:
    return ModelReply(text, "m-1", stop, Tokens(input=3, output=1), 0.25, **about)


def test_the_template_is_filled_with_the_input_and_its_keys(tmp_path: Path) -> None:
    template = "{{ country }} {{ input.country }} {{ input.items }} {{ metadata.hint }} {{ tags }}"
    text = asked(tmp_path, template=template + " {{ case_id }}").messages[0].text
    assert text == 'France France [1,2] P ["geo"] fr'


@pytest.mark.parametrize(("given", "text"), [("kiwi", "kiwi"), ({"a": "é"}, '{"a":"é"}'), (3, "3")])
def test_without_a_template_the_input_itself_is_asked(
    tmp_path: Path, given: Json, text: str
) -> None:
    assert asked(tmp_path, Case("c", given)).messages[0].text == text


def test_messages_and_system_are_templates_too(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "About {{ country }}."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Ask."},
        {"role": "user", "content": "Its capital? {{ '{{' }}"},
    ]
    question = asked(tmp_path, messages=messages)
    assert question.system == "About France."
    assert [(m.role, m.text) for m in question.messages] == [
        ("user", "Hello"),
        ("assistant", "Ask."),
        ("user", "Its capital? {{"),
    ]
    assert asked(tmp_path, messages=messages[3:], system="S {{ country }}").system == "S France"


def test_what_else_is_sent(tmp_path: Path) -> None:
    question = asked(
        tmp_path,
        model="m-1",
        temperature=0.3,
        max_tokens=99,
        params={"top_p": 0.5},
        seed=True,
        tools=[{"name": "look", "description": "d", "input_schema": {"type": "object"}}],
    )
    assert (question.model, question.temperature, question.max_tokens) == ("m-1", 0.3, 99)
    assert question.params == {"top_p": 0.5, "seed": 7}
    assert [tool.name for tool in question.tools] == ["look"]
    assert asked(tmp_path).params == {}


def test_trials_are_draws_of_their_own(tmp_path: Path) -> None:
    provider = Scripted("a", "b")
    task = task_of(tmp_path, provider)
    for trial in (1, 2):
        run(task, trial=trial)
    assert len({question.draw for question in provider.calls}) == 2


@pytest.mark.parametrize(
    ("kind", "name"), [("anthropic", "ANTHROPIC_BASE_URL"), ("openai", "OPENAI_BASE_URL")]
)
def test_calls_go_where_the_trials_own_environment_says(
    tmp_path: Path, kind: str, name: str
) -> None:
    provider = Scripted("a", "b")
    task = replace(task_of(tmp_path, provider), kind=kind)
    run(task, environ={name: "http://127.0.0.1:9/t"})
    run(task, environ={"OTHER": "http://127.0.0.1:9"})
    assert [question.base_url for question in provider.calls] == ["http://127.0.0.1:9/t", None]


def test_cost_tokens_and_the_end_are_kept(tmp_path: Path) -> None:
    result = run(task_of(tmp_path, Scripted(reply(first_token_s=0.5))))
    assert (result.output, result.cost_usd, result.tokens) == ("ok", 0.25, Tokens(3, 1))
    assert result.spans == ({"name": "model call", "model": "m-1", "stop": "end"},)
    assert result.metrics == {"first_token_s": 0.5}
    assert result.reused is None


def test_a_kept_answer_is_counted_apart(tmp_path: Path) -> None:
    result = run(task_of(tmp_path, Scripted(reply(cached=True))))
    assert (result.cost_usd, result.tokens) == (None, None)
    assert result.reused == Reused("cache", 1, Tokens(3, 1), 0.25)


@pytest.mark.parametrize("stop", [StopReason.LENGTH, StopReason.REFUSAL])
def test_a_cut_answer_and_a_refusal_are_outputs(tmp_path: Path, stop: StopReason) -> None:
    result = run(task_of(tmp_path, Scripted(reply("half of", stop)), max_tokens=9))
    assert (result.output, result.error) == ("half of", None)
    assert result.spans[0]["stop"] == stop.value
    assert result.spans[0]["note"]


def test_a_message_has_its_tool_uses(tmp_path: Path) -> None:
    uses = (ToolUse("t1", "look", {"at": "x"}),)
    provider = Scripted(reply("", StopReason.TOOL_USE, tool_uses=uses))
    result = run(task_of(tmp_path, provider, tools=[{"name": "look"}]))
    assert result.output == {
        "text": "",
        "tool_uses": [{"id": "t1", "name": "look", "input": {"at": "x"}}],
        "stop": "tool_use",
    }


SCHEMA = {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}


@pytest.mark.parametrize(
    ("text", "stop", "output", "error"),
    [
        ('{"city": "Paris"}', StopReason.END, {"city": "Paris"}, None),
        ('```json\n{"city": "Paris"}\n```', StopReason.END, {"city": "Paris"}, None),
        ('{"city": 1}', StopReason.END, '{"city": 1}', "off the schema: at /city: 1 is not of"),
        ("Paris", StopReason.END, "Paris", "the answer is no JSON (Expecting value"),
        ('{"city', StopReason.LENGTH, '{"city', "is no JSON, since it was cut at 64 tokens"),
        ("I won't", StopReason.REFUSAL, "I won't", "is no JSON, since the model refused"),
        ("NaN", StopReason.END, "NaN", "NaN is no JSON number"),
        ("[" * 100_000, StopReason.END, "[" * 100_000, "nested too deeply"),
    ],
)
def test_an_answer_must_satisfy_its_schema(
    tmp_path: Path, text: str, stop: StopReason, output: Json, error: str | None
) -> None:
    provider = Scripted(reply(text, stop))
    result = run(task_of(tmp_path, provider, response_schema=SCHEMA, max_tokens=64))
    assert result.output == output
    assert result.cost_usd == 0.25
    assert provider.calls[0].response_schema == SCHEMA
    if error is None:
        assert result.error is None
    else:
        assert error in str(result.error)
        assert text[:50] in str(result.error) or error == "nested too deeply"


def test_json_without_a_schema_is_any_json(tmp_path: Path) -> None:
    assert run(task_of(tmp_path, Scripted("[1]"), output="json")).output == [1]


def test_a_refused_call_fails_the_trial_and_the_world_does_not(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="no such model"):
        run(task_of(tmp_path, Scripted(ProviderError("no such model"))))
    with pytest.raises(InfraError):
        run(task_of(tmp_path, Scripted(InfraError("slow down", kind="rate_limit"))))


def test_a_model_that_hangs_ends_at_the_time_limit(tmp_path: Path) -> None:
    class Hanging(Scripted):
        async def complete(self, call: ModelCall) -> ModelReply:
            await asyncio.sleep(3600)
            return await super().complete(call)

    with pytest.raises(TrialTimeout, match=r"over the time limit of 0\.01 s"):
        run(task_of(tmp_path, Hanging()), time_limit_s=0.01)


def test_a_provider_that_gives_up_by_itself_is_not_the_time_limit(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        run(task_of(tmp_path, Scripted(TimeoutError())), time_limit_s=60.0)


def test_a_case_without_what_the_template_names_fails(tmp_path: Path) -> None:
    task = task_of(tmp_path, Scripted(), template="Say:\n{{ town }}")
    with pytest.raises(TaskError, match="template, line 2: 'town' is undefined"):
        run(task)
    with pytest.raises(TaskError, match="template leaves the prompt empty"):
        run(task_of(tmp_path, Scripted(), template="{{ town | default('') }} "))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "ask.md").write_text("@{{ country }}?\n", encoding="utf-8")
    (tmp_path / "schema.json").write_text('{"type": "object"}', encoding="utf-8")
    (tmp_path / "tools.json").write_text('[{"name": "look"}]', encoding="utf-8")
    return tmp_path


def settled(folder: Path, environ: Mapping[str, str] | None = None, **options: Any) -> Any:
    spec = task_spec({"kind": "prompt", "provider": "fake", **options}, "spec")
    return TASKS.settled(spec.kind, spec.options, (folder, environ or {}), "spec")


@pytest.mark.parametrize("options", [{"template": "@ask.md"}, {"template_file": "ask.md"}])
def test_a_plan_holds_the_content_of_files(files: Path, options: dict[str, Any]) -> None:
    fixed, notes = settled(
        files, **options, system="@@ping", response_schema="@schema.json", tools="@tools.json"
    )
    assert notes == ()
    assert fixed == {
        "template": "@@{{ country }}?\n",
        "system": "@@ping",
        "response_schema": {"type": "object"},
        "tools": [{"name": "look"}],
        "provider": {"kind": "fake"},
    }
    question = asked(files / "elsewhere", **fixed)
    assert (question.messages[0].text, question.system) == ("@France?", "@ping")
    assert settled(files, **fixed)[0] == fixed


def test_a_plan_names_the_provider_and_the_model_that_are_used(tmp_path: Path) -> None:
    environ = {"ANTHROPIC_API_KEY": "secret"}
    fixed, (note,) = settled(tmp_path, environ, provider=None)
    assert fixed["provider"] == {"kind": "anthropic"}
    assert fixed["model"] in note
    assert "ANTHROPIC_API_KEY is set" in note
    assert "secret" not in note + str(fixed)
    with pytest.raises(UsageError, match="no provider is given"):
        settled(tmp_path, {"PATH": str(tmp_path)}, provider=None)


def test_a_first_case_that_cannot_be_asked_is_told_before_the_run(tmp_path: Path) -> None:
    spec = task_spec({"kind": "prompt", "provider": "fake", "template": "\n{{ town }}"}, "spec")
    with pytest.raises(UsageError, match="template, line 2: 'town' is undefined") as caught:
        rehearse_task(spec, lambda: CAPITAL, tmp_path, "spec")
    assert "the first case to run, 'fr'" in str(caught.value)
    rehearse_task(spec, lambda: Case("c", {"town": "Rome"}), tmp_path, "spec")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"template": "{% if %}"}, "template, line 1: Expected an expression"),
        ({"template": "a\n{{ x "}, "template, line 2: "),
        ({"system": "{{ }}"}, "system, line 1"),
        ({"template": "{{ expected }}"}, "template names 'expected'"),
        ({"template": "x", "template_file": "y"}, "'template' and 'template_file' exclude"),
        ({"template_file": "none.md"}, "none.md cannot be read"),
        ({"template": "@"}, "names no file"),
        ({"template": "@."}, "cannot be read"),
        ({"template": "@\0"}, "cannot be read"),
        ({"messages": [{"role": "user"}]}, r"messages\[0\].*'content' a text"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "'role' must be one of"),
        ({"messages": [{"role": "user", "content": "x", "text": 1}]}, "unknown 'text'"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "must be the user's"),
        ({"messages": [{"role": "system", "content": "x"}]}, "must be the user's"),
        (
            {"messages": [{"role": "user", "content": "x"}, {"role": "system", "content": "y"}]},
            "only the first",
        ),
        (
            {"system": "s", "messages": [{"role": "system", "content": "x"}]},
            "'system' is given twice",
        ),
        ({"tools": [{"description": "x"}]}, "tool 1: its 'name' must be a text"),
        ({"tools": [{"name": "a"}, {"name": "a"}]}, "tool 2: a second one is called 'a'"),
        ({"tools": [{"name": "a", "schema": {}}]}, "unknown 'schema'"),
        ({"tools": [{"name": "a", "input_schema": 1}]}, "'input_schema' must be an object"),
        ({"tools": [{"name": "a", "description": 1}]}, "'description' must be a text"),
        ({"tools": "@bad.json"}, "bad.json is not JSON"),
        ({"tools": "@schema.json"}, "the tools must be a list"),
        ({"tools": ["a"]}, "tools"),
        ({"response_schema": "@list.json"}, "a schema is an object"),
        ({"response_schema": {"type": "objekt"}}, "no JSON Schema"),
        ({"provider": "gpt"}, "unknown provider"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"temprature": 1}, "did you mean 'temperature'"),
    ],
)
def test_a_task_that_makes_no_sense_is_refused(
    files: Path, options: dict[str, Any], message: str
) -> None:
    (files / "bad.json").write_text("{", encoding="utf-8")
    (files / "list.json").write_text("[]", encoding="utf-8")
    (files / "bytes.md").write_bytes(b"\xff")
    with pytest.raises(UsageError, match=message):
        task_of(files, **options)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes.md").write_bytes(b"ab\xff")
    with pytest.raises(UsageError, match="not UTF-8: byte 0xff at offset 2"):
        task_of(tmp_path, template="@bytes.md")


def test_a_spec_without_kind_is_recognised() -> None:
    with pytest.raises(UsageError, match="no 'kind'") as caught:
        task_spec({"template": "x"}, "spec")
    assert '"kind": "prompt"' in str(caught.value)


def test_any_text_can_be_kept() -> None:
    assert [text_kept(text) for text in ("a", "@a", "@@a", "")] == ["a", "@@a", "@@@a", ""]


def test_what_is_expected_is_in_no_call(tmp_path: Path) -> None:
    canary = "canary-5f1e"
    case = replace(call_of({"q": 1}).case, expected=canary)
    question = asked(tmp_path, case, template="{{ input }} {{ metadata }} {{ tags }}")
    assert canary not in repr(question)


def test_earlier_attempts_are_turns_of_the_conversation(tmp_path: Path) -> None:
    provider = Scripted("ok")
    earlier = (
        EarlierAttempt("Lyon", "not that"),
        EarlierAttempt({"city": "Nice"}, "nor that"),
        EarlierAttempt(None, "say something"),
    )
    run(task_of(tmp_path, provider, template="{{ country }}"), earlier=earlier)
    turns = [(message.role, message.text) for message in provider.calls[0].messages]
    assert turns == [
        ("user", "France"),
        ("assistant", "Lyon"),
        ("user", "not that"),
        ("assistant", '{"city": "Nice"}'),
        ("user", "nor that"),
        ("assistant", "(no answer)"),
        ("user", "say something"),
    ]

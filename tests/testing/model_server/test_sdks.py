"""The official SDKs are at home with the scripted server."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import openai
import pytest

from fairtrial.model.call import StopReason, ToolUse
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.testing.model_server import Fault, ModelServer, ScriptedAnswer

KEY = "sk-not-a-real-key"
QUESTION = [{"role": "user", "content": "Hello?"}]
LOOKUP = ToolUse("call_1", "lookup", {"city": "Zürich"})
ANSWER = ScriptedAnswer(
    "A long answer in several pieces.",
    (LOOKUP,),
    thinking="Let me see.",
    tokens=Tokens(10, 20, 5, 3, 4),
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([ANSWER]) as running:
        yield running


def claude(server: ModelServer) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=server.url, api_key=KEY, max_retries=0)


def gpt(server: ModelServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.v1_url, api_key=KEY, max_retries=0)


@pytest.mark.parametrize("streamed", [0, 1])
def test_anthropic_messages(server: ModelServer, streamed: int) -> None:
    asked: Json = {"model": "scripted-1", "max_tokens": 9, "messages": QUESTION}
    with claude(server) as client:
        if streamed:
            with client.messages.stream(**asked) as stream:
                message: anthropic.types.Message = stream.get_final_message()
        else:
            message = client.messages.create(**asked)
    thinking, text, use = message.content
    assert (thinking.type, text.type, use.type) == ("thinking", "text", "tool_use")
    assert text.type == "text"
    assert text.text == ANSWER.text
    assert use.type == "tool_use"
    assert use.input == LOOKUP.input
    assert message.stop_reason == "tool_use"
    counts = message.usage
    assert (counts.input_tokens, counts.output_tokens) == (10, 20)
    assert (counts.cache_read_input_tokens, counts.cache_creation_input_tokens) == (5, 3)
    assert "present" in server.calls[0].headers.values(), server.calls[0].headers
    assert KEY not in str(server.requests)


@pytest.mark.parametrize("streamed", [0, 1])
def test_openai_responses(server: ModelServer, streamed: int) -> None:
    asked: Json = {"model": "scripted-1", "input": "Hello?"}
    with gpt(server) as client:
        if streamed:
            with client.responses.stream(**asked) as stream:
                response: openai.types.responses.Response = stream.get_final_response()
        else:
            response = client.responses.create(**asked)
    assert response.status == "completed"
    assert response.output_text == ANSWER.text
    call = response.output[-1]
    assert call.type == "function_call"
    assert call.arguments == '{"city": "Z\\u00fcrich"}'
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.output_tokens) == (18, 20)
    assert response.usage.input_tokens_details.cached_tokens == 5
    assert response.usage.output_tokens_details.reasoning_tokens == 4
    assert server.calls[0].headers["authorization"] == "present"


@pytest.mark.parametrize("streamed", [0, 1])
def test_openai_chat(server: ModelServer, streamed: int) -> None:
    asked: Json = {"model": "scripted-1", "messages": QUESTION}
    with gpt(server) as client:
        if streamed:
            options: Json = {"include_usage": True}
            with client.chat.completions.stream(**asked, stream_options=options) as stream:
                completion: openai.types.chat.ChatCompletion = stream.get_final_completion()
        else:
            completion = client.chat.completions.create(**asked)
    choice = completion.choices[0]
    assert (choice.message.content, choice.finish_reason) == (ANSWER.text, "tool_calls")
    assert choice.message.tool_calls is not None
    call = choice.message.tool_calls[0]
    assert call.type == "function"
    assert call.function.name == "lookup"
    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.total_tokens) == (18, 38)


def test_a_free_form_call_and_one_of_a_namespace() -> None:
    uses = (ToolUse("c1", "exec", "text(1)"), ToolUse("c2", "team.ask", {"x": 1}))
    tools: Json = [
        {"type": "namespace", "name": "team", "tools": [{"type": "function", "name": "ask"}]}
    ]
    with (
        ModelServer([ScriptedAnswer("", uses)]) as server,
        gpt(server) as client,
        client.responses.stream(model="m", input="Hi", tools=tools) as stream,
    ):
        first, second = stream.get_final_response().output
    assert first.type == "custom_tool_call"
    assert first.input == "text(1)"
    assert second.type == "function_call"
    assert (second.namespace, second.name) == ("team", "ask")
    assert server.calls[0].tool_names == ("team.ask",)


def test_a_cut_answer_and_a_refusal_are_told() -> None:
    answers = [ScriptedAnswer(stop=StopReason.LENGTH), ScriptedAnswer(stop=StopReason.REFUSAL)]
    with ModelServer(answers) as server, gpt(server) as client:
        cut = client.responses.create(model="m", input="Hi")
        assert cut.status == "incomplete"
        assert cut.incomplete_details is not None
        assert cut.incomplete_details.reason == "max_output_tokens"
        message = client.responses.create(model="m", input="Hi").output[0]
        assert message.type == "message"
        assert message.content[0].type == "refusal"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, anthropic.AuthenticationError),
        (429, anthropic.RateLimitError),
        (529, anthropic.OverloadedError),
    ],
)
def test_errors_are_those_of_the_api(status: int, kind: type[Exception]) -> None:
    with (
        ModelServer([ScriptedAnswer(status=status, error="no!")]) as server,
        claude(server) as client,
        pytest.raises(kind, match="no!"),
    ):
        client.messages.create(model="m", max_tokens=9, messages=[])


def test_an_error_in_a_stream_is_told() -> None:
    broken = ScriptedAnswer(fault=Fault.ERROR_EVENT, error="overloaded, sorry")
    with (
        ModelServer([broken]) as server,
        claude(server) as client,
        pytest.raises(anthropic.APIStatusError, match="overloaded, sorry"),
        client.messages.stream(model="m", max_tokens=9, messages=[]) as stream,
    ):
        stream.get_final_message()


def test_models_and_tokens_are_counted() -> None:
    with ModelServer(models=("a", "b")) as server:
        with gpt(server) as client:
            assert [model.id for model in client.models.list()] == ["a", "b"]
        with claude(server) as other:
            assert [model.id for model in other.models.list()] == ["a", "b"]
            counted = other.messages.count_tokens(
                model="a", messages=[{"role": "user", "content": "one two three"}]
            )
    assert counted.input_tokens == 3
    assert server.calls == []

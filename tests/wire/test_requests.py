"""What a call becomes in the words of each API, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.model.call import Api, Message, ModelCall, Tool, ToolResult, ToolUse
from fairtrial.model.json import Json
from fairtrial.wire import anthropic_messages, openai_chat, openai_responses
from fairtrial.wire.asked import as_call
from fairtrial.wire.schemas import closed, is_strict

Build: TypeAlias = Callable[..., dict[str, Json]]

BUILD: dict[Api, Build] = {
    Api.ANTHROPIC_MESSAGES: anthropic_messages.request_body,
    Api.OPENAI_RESPONSES: openai_responses.request_body,
    Api.OPENAI_CHAT: openai_chat.request_body,
}
APIS = pytest.mark.parametrize("api", list(Api))
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number", "minimum": 0}},
    "required": ["score"],
}
CALL = ModelCall(
    (
        Message("user", "Weather?"),
        Message("assistant", "I look.", (ToolUse("c1", "look", {"city": "Bern"}),)),
        Message("user", tool_results=(ToolResult("c1", "rain", is_error=True),)),
    ),
    system="Be brief.",
    max_tokens=99,
    temperature=0.0,
    tools=(Tool("look", "Looks.", {"type": "object"}),),
)


def test_anthropic_messages() -> None:
    assert anthropic_messages.request_body(CALL, "m", stream=True) == {
        "model": "m",
        "max_tokens": 99,
        "system": "Be brief.",
        "temperature": 0.0,
        "stream": True,
        "tools": [{"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "c1", "name": "look", "input": {"city": "Bern"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": "rain",
                        "is_error": True,
                    }
                ],
            },
        ],
    }


def test_openai_responses() -> None:
    body = openai_responses.request_body(CALL, "m", stream=False)
    assert body == {
        "model": "m",
        "max_output_tokens": 99,
        "instructions": "Be brief.",
        "temperature": 0.0,
        "store": False,
        "tools": [
            {
                "type": "function",
                "name": "look",
                "description": "Looks.",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
        "input": [
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": "I look."},
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "look",
                "arguments": '{"city": "Bern"}',
            },
            {"type": "function_call_output", "call_id": "c1", "output": "rain"},
        ],
    }


def test_openai_chat() -> None:
    body = openai_chat.request_body(CALL, "m", stream=True, limit_name="max_tokens")
    assert body["stream_options"] == {"include_usage": True}
    assert body["max_tokens"] == 99
    system, asked, called, result = body["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    assert asked == {"role": "user", "content": "Weather?"}
    function = {"name": "look", "arguments": '{"city": "Bern"}'}
    assert called["tool_calls"] == [{"id": "c1", "type": "function", "function": function}]
    assert result == {"role": "tool", "tool_call_id": "c1", "content": "rain"}
    assert body["tools"][0]["function"]["name"] == "look"


@APIS
def test_params_win_and_null_leaves_a_field_out(api: Api) -> None:
    call = ModelCall(
        (Message("user", "x"),), temperature=1.0, params={"temperature": None, "top_k": 3}
    )
    body = BUILD[api](call, "m", stream=True)
    assert body["top_k"] == 3
    assert "temperature" not in body
    assert BUILD[api](ModelCall((), params={"stream": False}), "m", stream=True)["stream"] is False


@APIS
def test_a_response_schema_is_asked_for_where_the_api_wants_it(api: Api) -> None:
    body = BUILD[api](ModelCall((), response_schema=SCHEMA), "m", stream=False)
    if api is Api.ANTHROPIC_MESSAGES:
        form = body["output_config"]["format"]
        assert form["type"] == "json_schema"
        assert form["schema"] == {
            "type": "object",
            "properties": {"score": {"type": "number"}},
            "required": ["score"],
            "additionalProperties": False,
        }
        return
    if api is Api.OPENAI_RESPONSES:
        form = body["text"]["format"]
        assert form["type"] == "json_schema"
    else:
        assert body["response_format"]["type"] == "json_schema"
        form = body["response_format"]["json_schema"]
    assert (form["schema"], form["strict"]) == (SCHEMA, False)


@pytest.mark.parametrize(
    ("schema", "strict", "closable"),
    [
        (SCHEMA, False, True),
        ({**SCHEMA, "additionalProperties": False}, True, True),
        ({**SCHEMA, "additionalProperties": False, "required": []}, False, True),
        ({**SCHEMA, "additionalProperties": {"type": "string"}}, False, False),
        ({"type": "object"}, False, False),
        ({"type": "array", "items": {"type": "object"}}, False, False),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 3}, True, True),
        ({"anyOf": [{"type": "string"}, SCHEMA]}, False, True),
        ({}, True, False),
        ({"properties": {"a": True}}, False, False),
        ({"enum": ["a"]}, True, True),
    ],
)
def test_what_can_be_enforced(schema: dict[str, Any], strict: bool, closable: bool) -> None:  # noqa: FBT001
    assert is_strict(schema) is strict
    told = closed(schema)
    assert (told is not None) is closable
    assert told is None or closed(told) == told


def test_a_schema_that_cannot_be_enforced_is_not_asked_for() -> None:
    call = ModelCall((), response_schema={"type": "object"})
    assert "output_config" not in anthropic_messages.request_body(call, "m", stream=False)


@APIS
def test_a_body_read_back_is_the_call_that_made_it(api: Api) -> None:
    call = ModelCall(
        CALL.messages,
        model="m",
        system="Be brief.",
        max_tokens=99,
        temperature=0.0,
        tools=CALL.tools,
        params={"top_p": 0.5},
    )
    read = as_call(api, BUILD[api](call, "m", stream=True))
    if api is Api.ANTHROPIC_MESSAGES:
        assert read == call
    told = [(m.role, m.text, m.tool_uses) for m in read.messages]
    assert told == [(m.role, m.text, m.tool_uses) for m in call.messages]
    assert read.messages[2].tool_results[0].text == "rain"
    assert (read.system, read.max_tokens, read.temperature) == ("Be brief.", 99, 0.0)
    assert (read.tools, read.params) == (call.tools, {"top_p": 0.5})


def test_what_others_write_is_read() -> None:
    parts: Json = [{"type": "input_text", "text": "a"}, {"type": "input_image"}]
    items = [
        {"type": "message", "role": "developer", "content": "Rules."},
        {"role": "user", "content": parts},
        {"type": "reasoning", "summary": []},
        {"type": "custom_tool_call", "call_id": "1", "name": "exec", "input": "text(1)"},
        {"type": "custom_tool_call_output", "call_id": "1", "output": [{"text": "1"}]},
    ]
    call = as_call(Api.OPENAI_RESPONSES, {"input": items, "instructions": "Base."})
    assert call.system == "Base.\n\nRules."
    assert [message.text for message in call.messages] == ["a", "", ""]
    assert call.messages[1].tool_uses == (ToolUse("1", "exec", "text(1)"),)
    assert call.messages[2].tool_results == (ToolResult("1", "1"),)
    assert as_call(Api.OPENAI_RESPONSES, {"input": "hi"}).messages == (Message("user", "hi"),)


WORDS = "messages input system role content text type tools function tool_calls tool_use"
KEYS = st.sampled_from([*WORDS.split(), "tool_result", "function_call", "user", "max_tokens"])


@APIS
@given(
    st.dictionaries(
        KEYS,
        st.recursive(
            st.one_of(st.none(), st.integers(), KEYS),
            lambda inner: st.one_of(
                st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)
            ),
            max_leaves=20,
        ),
    )
)
def test_no_body_however_odd_is_a_crash(api: Api, body: dict[str, Json]) -> None:
    assert isinstance(as_call(api, body), ModelCall)

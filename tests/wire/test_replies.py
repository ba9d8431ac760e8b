"""Answers of every API, whole and streamed, become the same reply."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.answers import stream, whole

from fairtrial.model.call import Api, ModelReply, StopReason, ToolUse
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.testing.model_server import ScriptedAnswer
from fairtrial.wire.apis import (
    api_of,
    read_reply,
    read_stream,
    stream_reader,
    usage_of,
)
from fairtrial.wire.failures import FailedAnswerError, MalformedAnswerError

APIS = pytest.mark.parametrize("api", list(Api))
COUNTS = Tokens(input=10, output=20, cache_read=5, cache_write=3, reasoning=4)
USES = (ToolUse("c1", "look", {"city": "Zürich 🙂"}), ToolUse("c2", "stop", {}))


@APIS
def test_words_tools_and_counts(api: Api) -> None:
    answer = ScriptedAnswer("Grüezi 🙂 mitenand", USES, "Hm.", COUNTS)
    expected = ModelReply("Grüezi 🙂 mitenand", "m-1", StopReason.TOOL_USE, COUNTS, tool_uses=USES)
    assert read_reply(api, whole(api, answer)) == expected
    assert read_stream(api, stream(api, answer)) == expected


@APIS
@pytest.mark.parametrize("stop", list(StopReason))
def test_why_it_ended(api: Api, stop: StopReason) -> None:
    uses = USES if stop is StopReason.TOOL_USE else ()
    answer = ScriptedAnswer("So it is.", uses, stop=stop)
    replies = read_reply(api, whole(api, answer)), read_stream(api, stream(api, answer))
    assert {(reply.stop, reply.text) for reply in replies} == {(stop, "So it is.")}


@APIS
def test_an_unknown_stop_reason_is_an_end_and_nothing_is_lost(api: Api) -> None:
    answer = ScriptedAnswer("So it is.", stop="bored")
    for reply in read_reply(api, whole(api, answer)), read_stream(api, stream(api, answer)):
        assert (reply.stop, reply.text) == (StopReason.END, "So it is.")
        assert reply.tokens.output == 20


def test_a_full_context_window_cuts_an_answer() -> None:
    answer = ScriptedAnswer(stop="model_context_window_exceeded")
    reply = read_reply(Api.ANTHROPIC_MESSAGES, whole(Api.ANTHROPIC_MESSAGES, answer))
    assert reply.stop is StopReason.LENGTH


@APIS
@given(cuts=st.lists(st.integers(1, 4000), max_size=12))
def test_a_stream_may_be_cut_anywhere(api: Api, cuts: list[int]) -> None:
    data = stream(api, ScriptedAnswer("Grüezi 🙂", USES, "Hm.", COUNTS, chunk_chars=3))
    reader, start = stream_reader(api), 0
    for end in [*sorted(cuts), len(data)]:
        reader.feed(data[start:end])
        start = min(end, len(data))
    assert reader.ended
    assert reader.reply() == read_stream(api, data)


@APIS
def test_the_first_word_starts_it_and_a_thought_does_not(api: Api) -> None:
    data = stream(api, ScriptedAnswer("Words.", thinking="I think. " * 5))
    reader = stream_reader(api)
    before = data.index(b"Words.")
    before = data.rindex(b"\n\n", 0, before) + 2
    reader.feed(data[:before])
    assert not reader.started
    reader = stream_reader(api)
    reader.feed(data[: data.index(b"\n\n", before) + 2])
    assert reader.started
    assert not reader.whole


@APIS
def test_a_tool_starts_it_too(api: Api) -> None:
    data = stream(api, ScriptedAnswer("", USES))
    reader = stream_reader(api)
    reader.feed(data[: data.index(b"rich") + 40])
    assert reader.started


@APIS
def test_a_stream_that_stops_in_the_middle_is_no_answer(api: Api) -> None:
    data = stream(api, ScriptedAnswer("Words and words.", tokens=COUNTS))
    reader = stream_reader(api)
    reader.feed(data[: len(data) // 2])
    assert not reader.whole
    with pytest.raises(MalformedAnswerError, match="before the answer did"):
        reader.reply()
    known = usage_of(api, data[: len(data) // 2], streamed=True)
    assert known is None or known.input == COUNTS.input


@APIS
def test_what_is_no_answer_is_told(api: Api) -> None:
    for data in b"", b"<html>", b"[]", b"{}", b'{"object": "list"}', b'{"a": NaN}':
        with pytest.raises(MalformedAnswerError):
            read_reply(api, data)
    with pytest.raises(FailedAnswerError, match="too hot"):
        read_reply(api, b'{"error": {"message": "too hot", "type": "server_error"}}')
    with pytest.raises(MalformedAnswerError, match="is not valid JSON"):
        read_stream(api, b"data: {broken\n\n")
    with pytest.raises(MalformedAnswerError, match="no JSON object"):
        read_stream(api, b"data: 7\n\n")


def test_an_error_in_a_stream_keeps_its_type() -> None:
    event = (
        b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"!"}}'
    )
    with pytest.raises(FailedAnswerError) as caught:
        read_stream(Api.ANTHROPIC_MESSAGES, event)
    assert caught.value.error.type == "overloaded_error"
    flat = b'data: {"type":"error","code":"rate_limit_exceeded","message":"slow down"}\n\n'
    with pytest.raises(FailedAnswerError) as caught:
        read_stream(Api.OPENAI_RESPONSES, flat)
    assert caught.value.error.code == "rate_limit_exceeded"
    failed = {"status": "failed", "error": {"code": "server_error", "message": "oh"}, "output": []}
    last = json.dumps({"type": "response.failed", "response": failed}).encode()
    with pytest.raises(FailedAnswerError, match="oh"):
        read_stream(Api.OPENAI_RESPONSES, b"data: " + last + b"\n\n")


def test_half_an_emoji_in_each_of_two_pieces_is_one_emoji() -> None:
    pieces = [r'"\ud83d"', r'"\ude42"', r'" \ud83d"']
    data = b"".join(
        b'data: {"choices":[{"index":0,"delta":{"content":%s}}]}\n\n' % piece.encode()
        for piece in pieces
    )
    end = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    assert read_stream(Api.OPENAI_CHAT, data + end).text == "🙂 �"


def test_what_compatible_servers_do_differently() -> None:
    def chat(message: Json, **more: Any) -> ModelReply:
        choice = {"message": message, "finish_reason": "stop"}
        return read_reply(Api.OPENAI_CHAT, json.dumps({"choices": [choice], **more}).encode())

    # Arguments as an object, and "stop" though tools are asked for.
    called = chat({"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {"a": 1}}}]})
    assert (called.stop, called.tool_uses) == (StopReason.TOOL_USE, (ToolUse("1", "f", {"a": 1}),))
    # Arguments that are no JSON object stay a text.
    broken = chat({"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{a"}}]})
    assert broken.tool_uses[0].input == "{a"
    # Content in parts; the function call of the first days; no usage and no model.
    assert chat({"content": [{"type": "text", "text": "a"}, {"text": "b"}]}).text == "ab"
    assert chat({"function_call": {"name": "f", "arguments": "{}"}}).tool_uses[0].name == "f"
    assert chat({"content": "x"}).tokens == Tokens()
    # Reasoning billed beside the completion.
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 10}
    counted = chat(
        {"content": "x"}, usage={**usage, "completion_tokens_details": {"reasoning_tokens": 3}}
    )
    assert counted.tokens == Tokens(input=5, output=5, reasoning=3)


def test_a_response_whose_last_event_has_no_output_has_that_of_its_items() -> None:
    data = stream(Api.OPENAI_RESPONSES, ScriptedAnswer("Said.", USES))
    lines = data.split(b"data: ")
    last = json.loads(lines[-1])
    last["response"]["output"] = []
    lines[-1] = json.dumps(last).encode() + b"\n\n"
    reply = read_stream(Api.OPENAI_RESPONSES, b"data: ".join(lines))
    assert (reply.text, reply.tool_uses) == ("Said.", USES)


SIZES = st.integers(0, 10**9)


@APIS
@given(SIZES, SIZES, SIZES, SIZES, SIZES)
def test_counts_come_back_as_they_were(  # the scripted server counts as the provider bills
    api: Api, read: int, written: int, cached: int, stored: int, thought: int
) -> None:
    tokens = Tokens(read, written, cached, stored, min(thought, written))
    answer = ScriptedAnswer(tokens=tokens)
    assert usage_of(api, whole(api, answer), streamed=False) == tokens
    assert usage_of(api, stream(api, answer), streamed=True) == tokens


WILD = st.one_of(st.integers(-5, 10**6), st.none(), st.text(max_size=3), st.booleans(), st.floats())
DETAILS = {"cached_tokens": WILD, "cache_write_tokens": WILD, "reasoning_tokens": WILD}
USAGE = st.fixed_dictionaries(
    {},
    optional={
        "input_tokens": WILD,
        "output_tokens": WILD,
        "prompt_tokens": WILD,
        "completion_tokens": WILD,
        "total_tokens": WILD,
        "cache_read_input_tokens": WILD,
        "cache_creation_input_tokens": WILD,
        **{
            name: st.fixed_dictionaries({}, optional=DETAILS)
            for name in (
                "input_tokens_details",
                "prompt_tokens_details",
                "output_tokens_details",
                "completion_tokens_details",
            )
        },
    },
)


@APIS
@given(USAGE)
def test_whatever_is_told_no_count_is_negative_and_parts_fit_their_whole(
    api: Api, usage: Json
) -> None:
    tokens = usage_of(api, json.dumps({"usage": usage}).encode(), streamed=False)
    if tokens is None:
        return
    counts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write, tokens.reasoning)
    assert all(count is None or count >= 0 for count in counts)
    if tokens.reasoning is not None:
        assert tokens.output is not None
        assert tokens.reasoning <= tokens.output
    billed = usage.get("input_tokens" if api is Api.OPENAI_RESPONSES else "prompt_tokens")
    if api is not Api.ANTHROPIC_MESSAGES and type(billed) is int and billed >= 0:
        parts = (tokens.input, tokens.cache_read, tokens.cache_write)
        assert sum(part or 0 for part in parts) == billed


KEYS = st.sampled_from(
    sorted(
        {word for api in Api for word in re.findall(rb"[a-z_.]+", stream(api, ScriptedAnswer()))}
    )
).map(bytes.decode)
ANY_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), KEYS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=25,
)


@APIS
@given(ANY_JSON)
def test_no_answer_however_odd_is_a_crash(api: Api, document: Json) -> None:
    for read, data in (
        (read_reply, json.dumps(document).encode()),
        (read_stream, b"data: " + json.dumps(document).encode() + b"\n\ndata: [DONE]\n\n"),
    ):
        with contextlib.suppress(FailedAnswerError, MalformedAnswerError):
            assert isinstance(read(api, data), ModelReply)


@pytest.mark.parametrize(
    ("path", "api"),
    [
        ("/v1/messages?beta=true", Api.ANTHROPIC_MESSAGES),
        ("/v1/messages/count_tokens", None),
        ("/v1/messages/batches", None),
        ("/openai/v1/responses/", Api.OPENAI_RESPONSES),
        ("/v1/responses/resp_1", None),
        ("/v1/chat/completions", Api.OPENAI_CHAT),
        ("/v1/models", None),
        ("/", None),
    ],
)
def test_the_api_of_a_path(path: str, api: Api | None) -> None:
    assert api_of(path) is api

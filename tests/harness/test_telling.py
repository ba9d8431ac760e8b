"""A request tells of another harness, and of nothing else anew."""

from __future__ import annotations

from typing import Any

import pytest

from fairtrial.harness.block import block
from fairtrial.harness.telling import NoSuchPlaceError, texts_told, told
from fairtrial.model.call import Api, WireCall
from fairtrial.model.harness import Harness, LoadedText
from fairtrial.model.next_turn import HarnessPlace

ROOT = "/home/dev/shop"
OLD = Harness({"CLAUDE.md": "- Be brief."}, "A")
NEW = Harness({"CLAUDE.md": "- Be brief.\n- Run the tests."}, "B")
NONE = Harness({}, "none")


def _claude(text: str, *more: dict[str, Any]) -> WireCall:
    content = [{"type": "text", "text": text}, {"type": "text", "text": "Fix it."}]
    messages = [{"role": "user", "content": content}, *more]
    return WireCall(Api.ANTHROPIC_MESSAGES, {"model": "m", "messages": messages}, {"h": "1"})


def _place(*at: tuple[str | int, ...], agent: str = "claude-code", cwd: str = ".") -> HarnessPlace:
    return HarnessPlace(agent, ROOT, cwd, at)


BLOCK = block("claude-code", [LoadedText("CLAUDE.md", "- Be brief.")], ROOT)
AT = ("messages", 0, "content", 0, "text")


def test_the_recorded_harness_gives_the_recorded_request() -> None:
    call = _claude(BLOCK)
    assert told(call, _place(AT), OLD) == call


def test_only_the_block_differs_with_another_harness() -> None:
    call = _claude(BLOCK)
    found = told(call, _place(AT), NEW)
    texts = [part["text"] for part in found.body["messages"][0]["content"]]
    assert "Run the tests." in texts[0]
    assert texts[1] == "Fix it."
    assert found.headers == call.headers
    assert "Run the tests." not in str(call.body)


def test_without_instructions_their_part_is_taken_out() -> None:
    found = told(_claude(BLOCK), _place(AT), NONE)
    assert found.body["messages"][0]["content"] == [{"type": "text", "text": "Fix it."}]


def test_a_turn_of_nothing_else_goes_with_its_block() -> None:
    alone = {"role": "user", "content": [{"type": "text", "text": BLOCK}]}
    call = WireCall(Api.ANTHROPIC_MESSAGES, {"messages": [alone, {"role": "user", "content": "x"}]})
    found = told(call, _place(AT), NONE)
    assert found.body["messages"] == [{"role": "user", "content": "x"}]


def test_two_blocks_are_both_exchanged_and_taken_out() -> None:
    call = _claude(BLOCK, {"role": "user", "content": [{"type": "text", "text": BLOCK}]})
    both = _place(AT, ("messages", 1, "content", 0, "text"))
    assert str(told(call, both, NEW).body).count("Run the tests.") == 2
    assert "Be brief" not in str(told(call, both, NONE).body)


@pytest.mark.parametrize("content", ["Fix it.", [{"type": "text", "text": "Fix it."}]])
def test_a_session_that_was_told_nothing_is_told_before_its_first_turn(content: Any) -> None:
    call = WireCall(Api.ANTHROPIC_MESSAGES, {"messages": [{"role": "user", "content": content}]})
    (message,) = told(call, _place(), NEW).body["messages"]
    assert "Run the tests." in message["content"][0]["text"]
    assert message["content"][1]["text"] == "Fix it."
    assert told(call, _place(), NONE).body == call.body


def test_codex_is_told_in_an_item_of_its_own() -> None:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}
    call = WireCall(Api.OPENAI_RESPONSES, {"input": [item]})
    harness = Harness({"AGENTS.md": "- Run the tests."}, "B")
    first, second = told(call, _place(agent="codex"), harness).body["input"]
    assert first["content"][0]["text"].startswith(f"# AGENTS.md instructions for {ROOT}")
    assert second == item


def test_a_session_deeper_in_the_repository_is_told_of_its_folders() -> None:
    harness = Harness({"CLAUDE.md": "top", "api/CLAUDE.md": "api", "web/CLAUDE.md": "web"}, "B")
    paths = [text.path for text in texts_told(harness, _place(cwd="api"))]
    assert paths == ["CLAUDE.md", "api/CLAUDE.md"]


@pytest.mark.parametrize(
    "path", [("messages", 7, "content"), ("nothing",), ("model", "x"), ("messages",)]
)
def test_a_place_without_a_text_is_told(path: tuple[str | int, ...]) -> None:
    with pytest.raises(NoSuchPlaceError, match="no text at"):
        told(_claude(BLOCK), _place(path), NEW)

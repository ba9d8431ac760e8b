"""Requests that Claude Code logged are put together as they were sent."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sessions.requests.logging_claude import PARAMS, SHAPE, story

from fairtrial.model.call import Api
from fairtrial.sessions.requests.logged import LostError, digest, logged_request


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_marks(v) for k, v in value.items() if k != "cache_control"}
    return [_without_marks(one) for one in value] if isinstance(value, list) else value


def _position(records: list[dict[str, Any]], call_id: str) -> int:
    return next(
        n
        for n, record in enumerate(records)
        if record["type"] == "user"
        and isinstance(record["message"]["content"], list)
        and record["message"]["content"][0].get("tool_use_id") == call_id
    )


@pytest.mark.parametrize(("call_id", "number"), [("t1", 1), ("t2", 2), ("t3", 2)])
def test_the_request_after_a_result_is_the_one_that_was_sent(call_id: str, number: int) -> None:
    claude = story()
    call = logged_request(claude.records, _position(claude.records, call_id))
    assert call.api is Api.ANTHROPIC_MESSAGES
    assert _without_marks(call.body["messages"]) == claude.sent[number]
    assert call.body["tools"] == SHAPE["tools"]
    assert call.body["max_tokens"] == PARAMS["max_tokens"]
    assert "betas" not in call.body
    assert call.headers["anthropic-beta"] == "one,two"


def test_marks_for_the_cache_are_put_where_they_were() -> None:
    claude = story()
    call = logged_request(claude.records, _position(claude.records, "t3"))
    assert call.body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert call.body["messages"][-1]["content"][0]["cache_control"] == {"type": "e"}
    assert "cache_control" not in SHAPE["system"][0]


def test_a_message_with_another_hash_is_not_taken_for_the_one_that_was_sent() -> None:
    claude = story()
    place = _position(claude.records, "t1")
    claude.records[place]["message"]["content"][0]["content"] = "another text"
    with pytest.raises(LostError, match="1 of its 5 messages"):
        logged_request(claude.records, _position(claude.records, "t3"))


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("api-request", "logs no requests"),
        ("api-request-shape", "instructions and tools"),
        ("api-request-blob", "messages are not in the transcript"),
    ],
)
def test_a_part_that_is_missing_is_named(kind: str, why: str) -> None:
    records: list[Any] = [None if r["type"] == kind else r for r in story().records]
    with pytest.raises(LostError, match=why):
        logged_request(records, _position(story().records, "t3"))


def test_an_answer_of_another_prompt_is_not_the_next_one() -> None:
    claude = story()
    claude.prompt("Another thing.")
    claude.next_message()
    claude.said("Yes.", requestRef="request-0")
    last = len(claude.records) - 3
    with pytest.raises(LostError, match="not logged"):
        logged_request(claude.records, last)


def test_a_hash_leaves_out_marks_for_the_cache_at_any_depth() -> None:
    plain: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "é"}]}
    marked = {"role": "user", "content": [{**plain["content"][0], "cache_control": {}}]}
    assert digest(plain) == digest(marked)

"""What Claude Code told in the middle of a session, with another harness."""

from __future__ import annotations

import pytest

from fairtrial.harness.telling import told
from fairtrial.model.call import Api, WireCall
from fairtrial.model.harness import Harness
from fairtrial.model.next_turn import HarnessPlace

ROOT = "/home/dev/shop"
PLACE = HarnessPlace("claude-code", ROOT, ".")
RULE = ".claude/rules/api.md"


def later(path: str, text: str) -> str:
    return f"<system-reminder>\nContents of {path}:\n\n{text}\n</system-reminder>\n"


def request(*texts: str) -> WireCall:
    result = {"type": "tool_result", "tool_use_id": "t", "content": later(f"{ROOT}/{RULE}", "x\n")}
    parts = [{"type": "text", "text": text} for text in texts]
    turns = [{"role": "user", "content": "Go."}, {"role": "user", "content": [result, *parts]}]
    return WireCall(Api.ANTHROPIC_MESSAGES, {"messages": turns})


def texts(call: WireCall) -> list[str]:
    return [part["text"] for part in call.body["messages"][-1]["content"] if "text" in part]


def rules(text: str, paths: str = "api/**") -> Harness:
    return Harness({RULE: f"---\npaths: {paths}\n---\n{text}"}, "x")


def test_the_recorded_harness_gives_the_recorded_request() -> None:
    call = request(later(f"{ROOT}/{RULE}", "old\n"), later("/home/dev/.claude/x.md", "mine\n"))
    assert told(call, PLACE, rules("old\n")) == call


def test_a_file_is_exchanged_where_it_was_told_of() -> None:
    mine = later("/home/dev/.claude/x.md", "mine\n")
    call = request(later(f"{ROOT}/{RULE}", "old\n"), mine)
    found = told(call, PLACE, rules("new\n<!-- why -->\n"))
    assert texts(found) == [later(f"{ROOT}/{RULE}", "new\n"), mine]
    # What a tool printed is not the agent's own.
    assert found.body["messages"][-1]["content"][0] == call.body["messages"][-1]["content"][0]


@pytest.mark.parametrize("harness", [Harness({}, "none"), rules("new\n", '"**"')])
def test_a_file_that_is_gone_or_was_told_at_the_start_is_taken_out(harness: Harness) -> None:
    found = told(request(later(f"{ROOT}/{RULE}", "old\n")), PLACE, harness)
    assert texts(found) == []
    assert str(found.body).count("new") == len(harness.files)

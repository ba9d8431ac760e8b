"""Recorded requests with fields changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fairtrial.model.call import Api, WireCall
from fairtrial.wire.varying import NoSuchFieldError, system_of, varied

BODIES: dict[Api, dict[str, Any]] = {
    Api.ANTHROPIC_MESSAGES: {
        "model": "m",
        "system": [{"type": "text", "text": "Be kind."}],
        "messages": [{"role": "user", "content": "hi"}],
        "thinking": {"budget_tokens": 1},
    },
    Api.OPENAI_RESPONSES: {"model": "m", "instructions": "Be kind.", "input": "hi"},
    Api.OPENAI_CHAT: {
        "model": "m",
        "messages": [
            {"role": "developer", "content": "Be kind."},
            {"role": "user", "content": "hi"},
        ],
    },
}


def recorded(api: Api = Api.ANTHROPIC_MESSAGES) -> WireCall:
    return WireCall(api, copy.deepcopy(BODIES[api]))


@pytest.mark.parametrize("api", Api)
def test_the_instructions_are_found_and_set_wherever_the_api_has_them(api: Api) -> None:
    assert system_of(recorded(api)) == "Be kind."
    changed = varied(recorded(api), {"system": "Be brief."})
    assert system_of(changed) == "Be brief."
    assert system_of(varied(changed, {"system": None})) is None


@pytest.mark.parametrize("api", Api)
def test_what_was_recorded_is_not_touched(api: Api) -> None:
    call = recorded(api)
    varied(call, {"model": "other", "system": "x", "metadata.a": 1})
    assert call.body == BODIES[api]


def test_instructions_of_a_chat_stand_before_the_other_turns() -> None:
    call = WireCall(Api.OPENAI_CHAT, {"messages": [{"role": "user", "content": "hi"}]})
    turns = varied(call, {"system": "x"}).body["messages"]
    assert turns == [{"role": "system", "content": "x"}, {"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("path", "value", "reached"),
    [
        ("model", "other", lambda body: body["model"]),
        ("thinking.budget_tokens", 2, lambda body: body["thinking"]["budget_tokens"]),
        ("a.b.c", True, lambda body: body["a"]["b"]["c"]),
        ("messages.0.content", "bye", lambda body: body["messages"][0]["content"]),
        ("messages.0", {"role": "user"}, lambda body: body["messages"][0]),
    ],
)
def test_a_path_leads_to_its_field(path: str, value: Any, reached: Any) -> None:
    assert reached(varied(recorded(), {path: value}).body) == value


def test_none_takes_a_field_out() -> None:
    assert "model" not in varied(recorded(), {"model": None}).body
    assert varied(recorded(), {"thinking.budget_tokens": None}).body["thinking"] == {}


@pytest.mark.parametrize("path", ["model.name", "messages.1.role", "messages.x", "messages.-1"])
def test_a_path_that_leads_nowhere_is_refused(path: str) -> None:
    with pytest.raises(NoSuchFieldError, match=r"leads into|names no place"):
        varied(recorded(), {path: 1})

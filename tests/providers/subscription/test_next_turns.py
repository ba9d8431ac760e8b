"""What a recorded request becomes for a CLI, and what is read of the turn that it brings."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.providers.subscription.lab import Lab
from tests.providers.subscription.test_claude_result import failed, printed
from tests.providers.subscription.test_codex_events import USAGE, item
from tests.providers.subscription.test_codex_events import printed as codex_printed

from fairtrial.model.call import Api, StopReason, ToolUse, WireCall
from fairtrial.model.errors import InfraError, ProviderError, TrialProblem
from fairtrial.model.json import Json
from fairtrial.providers.cli_claude_turn import Surface, claude_turn_session, system_of
from fairtrial.providers.cli_codex_turn import CONTINUE, effort_of, thread_of
from fairtrial.providers.cli_one_turn import TYPE, Turn, main

HERE = Surface(Path("/w"), None)
OUT_OF_TURNS = {
    "subtype": "error_max_turns",
    "is_error": True,
    "terminal_reason": "max_turns",
    "stop_reason": "tool_use",
}
CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}


def session(*messages: Json) -> list[Any]:
    text = claude_turn_session({"messages": list(messages)}, "m", HERE)
    return [json.loads(line) for line in text.splitlines()]


def user(content: Json) -> dict[str, Json]:
    return {"role": "user", "content": content}


def said(*blocks: Json, **more: Json) -> str:
    message = {"id": "msg_1", "model": "m", "content": list(blocks), **more}
    return json.dumps({"type": "assistant", "message": message}) + "\n"


def result_of_tool(*, is_error: bool) -> str:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "x", "is_error": is_error}
    return json.dumps({"type": "user", "message": {"role": "user", "content": [block]}}) + "\n"


def asked(lab: Lab, kind: str, stdout: str, **ending: Any) -> Any:
    """Return what a CLI that prints this brings, or its trouble."""
    lab.log_in(kind)
    call = {
        "claude-code": WireCall(Api.ANTHROPIC_MESSAGES, {"messages": [user("Hello")]}),
        "codex": WireCall(Api.OPENAI_RESPONSES, {"input": "Hello", "model": "gpt-5.5"}),
    }[kind]
    provider = lab.provider(kind, lab.printing(stdout, **ending))
    try:
        return lab.session(provider, lambda it: it.send(call))
    except TrialProblem as trouble:
        return trouble


def test_a_session_is_one_chain_of_records() -> None:
    records = session(user("a"), {"role": "assistant", "content": "b"}, user("c"))
    uuids = [record["uuid"] for record in records]
    assert [record["parentUuid"] for record in records] == [None, *uuids[:-1]]
    assert len({record["sessionId"] for record in records}) == 1
    turns = [record["message"] for record in records if record["type"] != "attachment"]
    assert [turn["content"] for turn in turns] == ["a", [{"type": "text", "text": "b"}], "c"]


def test_texts_of_the_system_are_kept_where_they_stand() -> None:
    system: Json = {"role": "system", "content": [{"type": "text", "text": "One"}, {"text": " "}]}
    records = session(user("a"), system, {"role": "assistant", "content": "b"}, user("c"))
    kinds = [record["type"] for record in records if record.get("rendered") != [{"content": " "}]]
    assert kinds == ["user", "attachment", "assistant", "user"]
    (told,) = [record for record in records if "One" in json.dumps(record)]
    assert told["rendered"] == [{"content": "<system-reminder>\nOne\n</system-reminder>"}]
    assert told["renderedRole"] == "system"


def test_what_the_conversation_says_of_the_model_is_not_said_again() -> None:
    line = "You are powered by the model named Sonnet 5.5. The exact model ID is claude-sonnet-5-5."
    line += " Assistant knowledge cutoff is June 2026."
    told: Json = {"role": "system", "content": f"# Environment\n\n{line}\n\nToday is a Monday."}
    (identity,) = [
        record["attachment"]["identity"]
        for record in session(user("a"), told)
        if record.get("attachment", {}).get("type") == "model"
    ]
    assert identity == {
        "marketingName": "Sonnet 5.5",
        "modelId": "claude-sonnet-5-5",
        "knowledgeCutoff": "June 2026",
    }
    assert "knowledgeCutoff" not in json.dumps(session(user("a")))


def test_marks_of_the_cache_are_left_out() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    inner = [{"type": "text", "text": "x", **mark}]
    block = {"type": "tool_result", "tool_use_id": "t", "content": inner, **mark}
    assert "cache_control" not in json.dumps(session(user([block])))


@pytest.mark.parametrize(
    "messages",
    [
        None,
        [],
        [{"role": "assistant", "content": "done"}],
        [{"role": "user", "content": "x"}, {"role": "assistant", "content": "done"}],
        [{"role": "system", "content": "x"}],
        [{"role": "tool", "content": "x"}],
        ["x"],
    ],
)
def test_messages_that_no_turn_follows_are_refused(messages: Json) -> None:
    with pytest.raises(ProviderError, match="claude-code"):
        claude_turn_session({"messages": messages}, "m", HERE)


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (None, None),
        ("Be brief.", "Be brief."),
        (
            [{"type": "text", "text": "You are Claude Code, Anthropic's official CLI for Claude."}],
            None,
        ),
        (
            [
                {"type": "text", "text": "x-anthropic-billing-header: a=b;"},
                {"type": "text", "text": "You are a Claude agent, built on Anthropic's SDK."},
                {"type": "text", "text": "One"},
                {"type": "text", "text": "Two"},
            ],
            "One\n\nTwo",
        ),
    ],
)
def test_instructions_are_given_without_what_claude_code_adds(
    system: Json, expected: str | None
) -> None:
    assert system_of({"system": system}) == expected


def test_a_call_comes_back_with_tokens_and_cost_of_the_one_request(lab: Lab) -> None:
    stdout = said({"type": "text", "text": "I "}) + said({"type": "text", "text": "look."}, CALL)
    stdout += result_of_tool(is_error=True) + printed(**OUT_OF_TURNS)
    reply = asked(lab, "claude-code", stdout, status=1)
    assert reply.tool_uses == (ToolUse("t1", "Bash", {"command": "ls"}),)
    assert (reply.text, reply.stop) == ("I look.", StopReason.TOOL_USE)
    assert (reply.tokens.input, reply.cost_usd) == (100, 0.0067)


def test_only_the_first_answer_counts(lab: Lab) -> None:
    stdout = said({"type": "text", "text": "One."}) + said({"type": "text", "text": "Two."}, id="2")
    assert asked(lab, "claude-code", stdout + printed(result="Two.")).text == "One."


@pytest.mark.parametrize("kind", ["claude-code", "codex"])
def test_a_tool_that_ran_is_told_of(lab: Lab, kind: str) -> None:
    claude = said(CALL) + result_of_tool(is_error=False) + printed(**OUT_OF_TURNS)
    codex = codex_printed(
        item("command_execution", command="ls"),
        {"type": "turn.completed", "usage": USAGE},
        {"type": TYPE, "items": [{"type": "function_call", "name": "exec_command"}]},
    )
    trouble = asked(lab, kind, {"claude-code": claude, "codex": codex}[kind])
    assert isinstance(trouble, ProviderError)
    assert "told not to" in str(trouble)


@pytest.mark.parametrize("kind", ["claude-code", "codex"])
def test_words_about_trouble_are_no_turn(lab: Lab, kind: str) -> None:
    words = "API Error: 529 overloaded"
    synthetic = said({"type": "text", "text": words}, model="<synthetic>")
    claude = synthetic + failed(words, 529)
    codex = codex_printed({"type": "turn.failed", "error": {"message": "status 529 overloaded"}})
    trouble = asked(lab, kind, {"claude-code": claude, "codex": codex}[kind], status=1)
    assert isinstance(trouble, InfraError)
    assert trouble.kind == "server"


@pytest.mark.parametrize(("kind", "other"), [("claude-code", "codex"), ("codex", "claude-code")])
def test_each_goes_on_with_its_own_api(lab: Lab, kind: str, other: str) -> None:
    apis = {"claude-code": Api.ANTHROPIC_MESSAGES, "codex": Api.OPENAI_RESPONSES}
    call = WireCall(apis[other], {"messages": [user("x")], "input": "x"})
    with pytest.raises(ProviderError, match="use an API provider"):
        lab.session(lab.provider(kind, lab.printing("")), lambda it: it.send(call))


def message(role: str, *texts: str) -> dict[str, Json]:
    return {
        "type": "message",
        "role": role,
        "content": [{"type": "input_text", "text": text} for text in texts],
    }


OUTPUT: dict[str, Json] = {"type": "function_call_output", "call_id": "c", "output": "x"}


def test_the_instructions_of_a_request_are_given_once() -> None:
    items = [message("developer", "Base."), message("user", "Go.")]
    assert thread_of({"instructions": "Own.", "input": items}).instructions == "Own."
    assert len(thread_of({"instructions": "Own.", "input": items}).items) == 1
    lifted = thread_of({"input": [{"type": "additional_tools", "tools": []}, *items]})
    assert (lifted.instructions, lifted.items, lifted.prompt) == ("Base.", (), "Go.")


def test_the_last_words_of_the_user_are_the_prompt() -> None:
    thread = thread_of({"input": [message("user", "Read this.", "Now go.")]})
    assert (thread.items, thread.prompt) == ((message("user", "Read this."),), "Now go.")
    goes_on = thread_of({"input": [message("user", "Go."), OUTPUT]})
    assert (goes_on.items, goes_on.prompt) == ((message("user", "Go."), OUTPUT), CONTINUE)
    image: Json = {"type": "input_image", "image_url": "data:"}
    pictured: dict[str, Json] = {"type": "message", "role": "user", "content": [image]}
    assert thread_of({"input": [pictured]}).items == (pictured,)


def test_short_forms_of_a_request_are_taken() -> None:
    assert thread_of({"input": "Go."}).prompt == "Go."
    given: Json = [{"role": "assistant", "content": "Hi."}, {"role": "user", "content": "Go."}]
    (first,) = thread_of({"input": given}).items
    content = [{"type": "output_text", "text": "Hi."}]
    assert first == {"type": "message", "role": "assistant", "content": content}
    assert effort_of({"reasoning": {"effort": "high"}}) == "high"
    assert effort_of({"reasoning": None}) is None


@pytest.mark.parametrize(
    "given", [None, [], [message("assistant", "x")], [message("developer", "x")]]
)
def test_items_that_no_turn_follows_are_refused(given: Json) -> None:
    with pytest.raises(ProviderError, match="codex needs"):
        thread_of({"input": given})


def written(kind: str, **payload: Json) -> bytes:
    return (json.dumps({"type": kind, "payload": payload}) + "\n").encode()


def test_a_turn_is_read_as_it_is_written() -> None:
    turn = Turn()
    whole = written("response_item", type="message", role="user", content=[])
    whole += written("response_item", type="message", role="assistant", content=[])
    whole += b"no JSON\n"
    whole += written("response_item", type="function_call", name="exec_command", call_id="c")
    for start in range(0, len(whole), 7):
        turn.read(whole[start : start + 7])
    assert [piece["type"] for piece in turn.items] == ["message", "function_call"]
    assert (turn.asks, turn.over) == (True, False)
    turn.read(written("token_usage_record", usage={"input_tokens": 3}))
    turn.read(written("response_item", type="message", role="assistant", content=[]))
    assert (turn.over, turn.usage, len(turn.items)) == (True, {"input_tokens": 3}, 2)


WRITES = """
import subprocess, sys, time
rollout, waits = sys.argv[1], sys.argv[2] == "waits"
with open(rollout, "a") as file:
    file.write(sys.argv[3])
print("an event", flush=True)
# As what npm installs does, it leaves the work to a program of its own.
sys.exit(subprocess.call(["sleep", "1000"]) if waits else 3)
"""


@pytest.mark.parametrize(
    ("how", "kind", "status"), [("waits", "custom_tool_call", 0), ("ends", "message", 3)]
)
def test_a_program_is_ended_once_its_model_asks_for_a_tool(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], how: str, kind: str, status: int
) -> None:
    rollout, program = tmp_path / "rollout", tmp_path / "program"
    rollout.write_bytes(written("response_item", type="function_call", name="of before"))
    program.write_text(WRITES)
    text = written("response_item", type=kind, role="assistant")
    text += written("token_usage_record", usage={"output_tokens": 2})
    command = [sys.executable, "-IS", str(program), str(rollout), how, text.decode()]
    assert main([str(rollout), *command]) == status
    event, empty, told = capfd.readouterr().out.splitlines()
    assert (event, empty) == ("an event", "")
    expected: Json = [{"type": kind, "role": "assistant"}]
    assert json.loads(told) == {"type": TYPE, "items": expected, "usage": {"output_tokens": 2}}

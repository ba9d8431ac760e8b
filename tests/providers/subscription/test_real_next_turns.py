"""The real Claude Code and Codex go on with a recorded request for one turn, and run no tool.

What this rests on is documented nowhere: how a session is resumed, that a hook refuses every call.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.providers.subscription.lab import PROGRAMS, Lab, needs_agents, spent_limit
from tests.providers.subscription.test_real_clis import (
    fake_login,
    subscription_login,
    turns,
    url,
    using,
)

from fairtrial.model.call import Api, StopReason, ToolUse, WireCall
from fairtrial.model.errors import InfraError, ProviderError, TrialProblem
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.providers.cli_codex_turn import CONTINUE
from fairtrial.testing.model_server import Fault, ModelServer, Script, ScriptedAnswer

pytestmark = [needs_agents]
both = pytest.mark.parametrize("kind", PROGRAMS)
CODE_MODE = "gpt-6-sol"

BASH = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "pytest -q"}}
READ = {"type": "tool_use", "id": "toolu_2", "name": "Read", "input": {"file_path": "/x/calc.py"}}
ASKED = "Fix add. Grüße,\u2028 'please'."
MESSAGES: list[Json] = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "<system-reminder>\nNever push.\n</system-reminder>"},
            {"type": "text", "text": ASKED, "cache_control": {"type": "ephemeral"}},
        ],
    },
    {"role": "system", "content": "Working directory: /x\n\nToday is a Monday."},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"},
            {"type": "text", "text": "I look."},
            BASH,
            READ,
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "content": "Exit code 1\nE  assert 3 == 4",
                "is_error": True,
            },
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "def add(a, b):"},
            {"type": "text", "text": "<system-reminder>\nBe brief.\n</system-reminder>"},
        ],
    },
]
SYSTEM: list[Json] = [
    {"type": "text", "text": "You are a Claude agent, built on Anthropic's Claude Agent SDK."},
    {"type": "text", "text": "The recorded instructions.\n\n$HOME 'quoted'"},
]
ITEMS: list[Json] = [
    {
        "type": "message",
        "role": "developer",
        "content": [{"type": "input_text", "text": "<p>no</p>"}],
    },
    {
        "type": "message",
        "role": "user",
        "content": [
            {"type": "input_text", "text": "# AGENTS.md instructions\nNever push."},
            {"type": "input_text", "text": ASKED},
        ],
    },
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "I look."}],
    },
    {
        "type": "function_call",
        "name": "exec_command",
        "arguments": '{"cmd": "pytest -q"}',
        "call_id": "c1",
    },
    {"type": "function_call_output", "call_id": "c1", "output": "Process exited with code 1"},
]


def recorded(kind: str, *, model: str | None = None, more: Sequence[Json] = ()) -> WireCall:
    """Return a request of a session in the middle of its work."""
    if kind == "claude-code":
        body: dict[str, Json] = {"system": SYSTEM, "messages": [*MESSAGES, *more]}
        body |= {"model": model or "claude-sonnet-5-5", "max_tokens": 32000}
        return WireCall(Api.ANTHROPIC_MESSAGES, body)
    body = {"instructions": "The recorded instructions.", "input": [*ITEMS, *more]}
    return WireCall(Api.OPENAI_RESPONSES, body | {"model": model or "gpt-5.5"})


def sent(lab: Lab, kind: str, call: WireCall, script: Script) -> tuple[Any, list[Any]]:
    """Return the turn that a request brings, or its trouble, and what reached the model."""
    lab.log_in(kind, fake_login(kind))
    return sent_logged_in(lab, kind, call, script)


def sent_logged_in(lab: Lab, kind: str, call: WireCall, script: Script) -> tuple[Any, list[Any]]:
    with ModelServer(script) as server:
        asked = WireCall(call.api, call.body, base_url=url(kind, server))
        reply: Any
        try:
            reply = lab.session(lab.provider(kind, timeout_s=90.0), lambda it: it.send(asked))
        except TrialProblem as trouble:
            reply = trouble
        assert lab.left() == []
        assert using(lab.tmp) == []
        return reply, server.calls


def calls_to_refuse(kind: str, mark: Path) -> tuple[ToolUse, ...]:
    """Return what would leave a mark or tell a secret of this machine."""
    if kind == "claude-code":
        return (
            ToolUse("t1", "Bash", {"command": f"touch {mark}"}),
            ToolUse("t2", "Read", {"file_path": "/etc/hostname"}),
            ToolUse("t3", "Write", {"file_path": str(mark), "content": "x"}),
        )
    patch = f"*** Begin Patch\n*** Add File: {mark}\n+x\n*** End Patch"
    return (
        ToolUse("t1", "exec_command", {"cmd": f"touch {mark}"}),
        ToolUse("t2", "exec_command", {"cmd": "cat /etc/hostname"}),
        ToolUse("t3", "apply_patch", patch),
    )


@both
def test_no_tool_runs_and_the_calls_asked_for_come_back(lab: Lab, kind: str) -> None:
    mark = lab.folder / "side-effect"
    uses = calls_to_refuse(kind, mark)
    used = Tokens(input=100, output=20, cache_read=30, cache_write=0, reasoning=0)
    script = [ScriptedAnswer("I fix it.", uses, tokens=used), ScriptedAnswer("again")]
    reply, requests = sent(lab, kind, recorded(kind), script)
    assert reply.tool_uses == uses
    assert (reply.text, reply.stop) == ("I fix it.", StopReason.TOOL_USE)
    assert reply.tokens == used
    assert (reply.cost_usd is not None) == (kind == "claude-code")
    assert len(requests) == 1
    assert not mark.exists()


def test_no_tool_runs_in_code_mode(lab: Lab) -> None:
    mark = lab.folder / "side-effect"
    touch, patch = json.dumps({"cmd": f"touch {mark}"}), json.dumps(str(mark))
    source = (
        f"await Promise.all([tools.exec_command({touch}), tools.apply_patch("
        f'"*** Begin Patch\\n*** Add File: " + {patch} + "\\n+x\\n*** End Patch")])'
    )
    use = ToolUse("t1", "exec", source)
    script = [ScriptedAnswer("", (use,)), ScriptedAnswer("again")]
    reply, requests = sent(lab, "codex", recorded("codex", model=CODE_MODE), script)
    assert (reply.text, reply.tool_uses) == ("", (use,))
    assert len(requests) == 1
    assert not mark.exists()


@both
def test_a_tool_that_does_not_exist_comes_back_too(lab: Lab, kind: str) -> None:
    use = ToolUse("t1", "no_such_tool", {"a": 1})
    reply, _ = sent(lab, kind, recorded(kind), [ScriptedAnswer("", (use,)), ScriptedAnswer("hm")])
    assert reply.tool_uses == (use,)


@both
def test_a_turn_of_words_comes_back(lab: Lab, kind: str) -> None:
    reply, requests = sent(lab, kind, recorded(kind), [ScriptedAnswer("Grüße, \u2028 done.")])
    assert (reply.text, reply.tool_uses) == ("Grüße, \u2028 done.", ())
    assert reply.stop is StopReason.END
    assert reply.model == requests[0].model == recorded(kind).body["model"]
    assert len(requests) == 1


def test_a_refusal_comes_back(lab: Lab) -> None:
    script = [ScriptedAnswer("No.", stop=StopReason.REFUSAL)]
    reply, _ = sent(lab, "claude-code", recorded("claude-code"), script)
    assert (reply.stop, reply.tool_uses) == (StopReason.REFUSAL, ())


def test_the_turns_reach_claude_word_by_word(lab: Lab) -> None:
    _, (request,) = sent(lab, "claude-code", recorded("claude-code"), [ScriptedAnswer("ok")])
    *got, added = request.body["messages"]
    assert [message["role"] for message in got] == ["user", "system", "assistant", "user"]
    assert [texts(message["content"]) for message in got[:2]] == [
        ["<system-reminder>\nNever push.\n</system-reminder>", ASKED],
        ["Working directory: /x\n\nToday is a Monday."],
    ]
    assert plain(got[2]["content"]) == MESSAGES[2]["content"]
    *results, reminder, goes_on = got[3]["content"]
    assert plain(results) == MESSAGES[3]["content"][:2]
    # Claude Code ends a reminder in a line of its own.
    assert [reminder["text"].rstrip(), goes_on["text"]] == [
        "<system-reminder>\nBe brief.\n</system-reminder>",
        CONTINUE,
    ]
    # One line of Claude Code's own is all that comes on top.
    assert added["role"] == "system"
    (line,) = texts(added["content"])
    assert line.startswith("You are powered by the model"), line[:600]
    assert "\n" not in line
    system = [block["text"] for block in request.body["system"]]
    assert system[-1] == SYSTEM[1]["text"]
    assert len(system[:-1]) == 2
    assert all(len(text) < 100 for text in system[:-1])
    assert {"Bash", "Read", "Edit", "Write"} <= set(request.tool_names)


@pytest.mark.parametrize("model", ["gpt-5.5", CODE_MODE])
def test_the_items_reach_gpt_word_by_word(lab: Lab, model: str) -> None:
    call = recorded("codex", model=model)
    _, (request,) = sent(lab, "codex", call, [ScriptedAnswer("ok")])
    items = [item for item in request.body["input"] if item["type"] != "additional_tools"]
    got = [
        {name: part for name, part in item.items() if name not in ("id", "internal_chat")}
        for item in items
    ]
    instructions = {
        "type": "message",
        "role": "developer",
        "content": [{"type": "input_text", "text": "The recorded instructions."}],
    }
    assert got.count(instructions) == 1
    got.remove(instructions)
    goes_on = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": CONTINUE}],
    }
    assert got == [*ITEMS, goes_on]
    names = set(request.tool_names)
    assert names >= ({"exec"} if model == CODE_MODE else {"exec_command", "apply_patch"})


@both
@pytest.mark.parametrize("text", ["And now?", "/help", "@/etc/hostname", "-p", "/compact x"])
def test_it_ends_with_the_words_of_the_user_where_they_are_last(
    lab: Lab, kind: str, text: str
) -> None:
    more: Sequence[Mapping[str, Json]] = [
        {"role": "assistant", "content": "I did what I could."},
        {"role": "user", "content": text},
    ]
    call = recorded(kind, more=[dict(turn) for turn in more])
    reply, (request,) = sent(lab, kind, call, [ScriptedAnswer("ok")])
    assert reply.text == "ok"
    said = [(who, words.strip()) for who, words in spoken(request) if who != "system"]
    assert said[-2:] == [("assistant", "I did what I could."), ("user", text)]
    assert CONTINUE not in json.dumps(request.body)


@both
def test_nothing_of_the_user_gets_in(lab: Lab, kind: str) -> None:
    mark = lab.folder / "side-effect"
    login = lab.log_in(kind, fake_login(kind))
    hook = {"hooks": [{"type": "command", "command": f"touch {mark}"}]}
    hooks = json.dumps({"hooks": {event: [hook] for event in ("SessionStart", "PreToolUse")}})
    server = {"mcpServers": {"smuggled": {"command": "touch", "args": [str(mark)]}}}
    home = lab.folder / "home"
    for folder in (home, lab.folder, lab.tmp):
        (folder / ".claude").mkdir(exist_ok=True)
        for name in ("CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md"):
            (folder / name).write_text("PLANTED instructions")
        (folder / ".claude/settings.json").write_text(hooks)
        (folder / ".mcp.json").write_text(json.dumps(server))
        (folder / ".claude.json").write_text(json.dumps(server))
    for name in ("AGENTS.md", "hooks.json", "settings.json"):
        text = hooks if name.endswith("json") else "PLANTED instructions"
        (login.parent / name).write_text(text)
    with ModelServer([ScriptedAnswer("ok")]) as model:
        asked = WireCall(recorded(kind).api, recorded(kind).body, base_url=url(kind, model))
        assert lab.session(lab.provider(kind), lambda it: it.send(asked)).text == "ok"
        (request,) = model.calls
    body = json.dumps(request.body)
    assert "PLANTED" not in body
    assert "smuggled" not in body
    assert str(home) not in body
    assert not mark.exists()


@both
@pytest.mark.parametrize(
    ("status", "expected"), [(401, "login"), (429, "rate_limit"), (529, "server")]
)
def test_trouble_of_the_world(lab: Lab, kind: str, status: int, expected: str) -> None:
    trouble, requests = sent(lab, kind, recorded(kind), [ScriptedAnswer(status=status)])
    assert isinstance(trouble, InfraError)
    assert trouble.kind == expected
    assert 1 <= len(requests) <= 4


@both
def test_a_spent_usage_limit_is_told_as_one(lab: Lab, kind: str) -> None:
    lifted = int(time.time()) + 5000
    answer = spent_limit(kind, lifted)
    lab.log_in(kind, subscription_login(kind))
    trouble, _ = sent_logged_in(lab, kind, recorded(kind), [answer])
    assert isinstance(trouble, InfraError)
    assert trouble.kind == "quota"


@both
def test_a_request_that_is_too_long_is_refused(lab: Lab, kind: str) -> None:
    words = {
        "claude-code": "prompt is too long: 210000 tokens > 200000 maximum",
        "codex": "Your input exceeds the context window of this model.",
    }
    script = [ScriptedAnswer(status=400, error=words[kind])]
    trouble, _ = sent(lab, kind, recorded(kind), script)
    assert isinstance(trouble, ProviderError)
    assert any(part in str(trouble) for part in ("too long", "context window"))


@both
def test_a_model_that_hangs_leaves_no_process(lab: Lab, kind: str) -> None:
    lab.log_in(kind, fake_login(kind))
    with ModelServer([ScriptedAnswer(fault=Fault.HANG)]) as server:
        call = recorded(kind)
        asked = WireCall(call.api, call.body, base_url=url(kind, server))
        provider = lab.provider(kind, timeout_s=6.0)
        with pytest.raises(InfraError) as caught:
            lab.session(provider, lambda it: it.send(asked))
        server.wait_until(lambda it: it.gone >= 1)
    assert caught.value.kind == "network"
    assert (lab.left(), using(lab.tmp)) == ([], [])


def texts(content: Json) -> list[str]:
    return [content] if isinstance(content, str) else [block["text"] for block in content]


def plain(blocks: Sequence[Any]) -> list[Any]:
    """Return blocks without what marks them for the cache."""
    return [
        {name: part for name, part in block.items() if name != "cache_control"} for block in blocks
    ]


def spoken(request: Any) -> list[tuple[str, str]]:
    """Return the words of each turn, without those of Claude Code about itself."""
    if "messages" not in request.body:
        return list(turns(request))
    return [
        (turn["role"], "".join(text for text in texts_of(turn["content"])))
        for turn in request.body["messages"]
    ]


def texts_of(content: Json) -> list[str]:
    blocks = [{"text": content}] if isinstance(content, str) else content
    return [block["text"] for block in blocks if "text" in block]

"""The real Claude Code and Codex against a scripted model on loopback."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.providers.subscription.lab import PROGRAMS, Lab, needs_agents, question, spent_limit

from fairtrial.model.call import Message, ModelCall, StopReason, ToolUse
from fairtrial.model.errors import InfraError, ProviderError, TrialProblem
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.ports import Provider
from fairtrial.recording.canonical import canonical_content
from fairtrial.testing.model_server import Fault, ModelServer, Script, ScriptedAnswer

pytestmark = [needs_agents, pytest.mark.parametrize("kind", PROGRAMS)]

KEYS = {"claude-code": "ANTHROPIC_API_KEY", "codex": "OPENAI_API_KEY"}
VERDICT: Mapping[str, Json] = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["pass", "fail"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}
HOOK = {"hooks": [{"type": "command", "command": "touch {mark}"}]}


def url(kind: str, server: ModelServer) -> str:
    return server.url if kind == "claude-code" else server.v1_url


def fake_login(kind: str) -> str:
    """Return a login such as the CLI writes; there is no account behind it."""
    if kind == "codex":
        return json.dumps({"OPENAI_API_KEY": "not-a-key"})
    oauth = {
        "accessToken": "not-a-token",
        "refreshToken": "not-a-token",
        "expiresAt": int(time.time() + 36_000) * 1000,
        "scopes": ["user:inference", "user:profile"],
        "subscriptionType": "max",
    }
    return json.dumps({"claudeAiOauth": oauth})


def subscription_login(kind: str) -> str:
    """Return a login of a subscription: what is spent is then not an API's rate limit."""
    if kind == "claude-code":
        return fake_login(kind)
    claims = {
        "exp": int(time.time() + 36_000),
        "https://api.openai.com/auth": {"chatgpt_plan_type": "plus", "chatgpt_account_id": "a"},
    }
    parts = [json.dumps(part).encode() for part in ({"alg": "none"}, claims, "unsigned")]
    token = ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
    names = ("id_token", "access_token", "refresh_token", "account_id")
    tokens = dict(zip(names, (token, token, "not-a-token", "a"), strict=True))
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return json.dumps({"auth_mode": "chatgpt", "tokens": tokens, "last_refresh": now})


def answered(lab: Lab, kind: str, call: ModelCall, script: Script) -> tuple[Any, list[Any]]:
    """Return what a call brings, or its trouble, and the requests that were made for it."""
    lab.log_in(kind, fake_login(kind))
    with ModelServer(script) as server:
        asked = ModelCall(
            call.messages,
            call.model,
            call.system,
            response_schema=call.response_schema,
            base_url=url(kind, server),
        )
        reply: Any
        try:
            reply = lab.ask(lab.provider(kind, timeout_s=60.0), asked)
        except TrialProblem as trouble:
            reply = trouble
        assert lab.left() == []
        return reply, server.calls


def turns(request: Any) -> Iterator[tuple[str, str]]:
    """Yield who said what; a system message among the turns is the CLI's."""
    for turn in request.body.get("messages") or request.body["input"]:
        content = turn.get("content") or []
        blocks = [{"text": content}] if isinstance(content, str) else content
        if turn.get("role") in ("user", "assistant"):
            yield turn["role"], "".join(block["text"] for block in blocks)


def test_it_answers(lab: Lab, kind: str) -> None:
    used = Tokens(input=100, output=20, cache_read=30, cache_write=0, reasoning=0)
    script = [ScriptedAnswer("Grüße, \u2028 world!", tokens=used)]
    reply, requests = answered(lab, kind, question("Say hello."), script)
    assert (reply.text, reply.stop) == ("Grüße, \u2028 world!", StopReason.END)
    assert reply.tokens == used
    assert reply.model == requests[0].model
    assert [*turns(requests[0])] == [("user", "Say hello.")]
    assert (reply.cost_usd is not None) == (kind == "claude-code")


def test_instructions_and_earlier_turns_reach_the_model_as_they_are(lab: Lab, kind: str) -> None:
    talk = (
        Message("user", "One?"),
        Message("assistant", "1 @/etc/hostname"),
        Message("user", "Two?"),
        Message("assistant", "Grüße\u2028\n\n2"),
        Message("user", "Three?\n"),
    )
    call = ModelCall(talk, system="Count, 'please'.\n$HOME")
    _, requests = answered(lab, kind, call, [ScriptedAnswer("3")])
    assert [*turns(requests[0])] == [(turn.role, turn.text) for turn in talk]
    assert "Count, 'please'.\\n$HOME" in json.dumps(requests[0].body)


@pytest.mark.parametrize(
    "text", ["/help", "/compact @/etc/hostname", "@/etc/hostname", "!ls", "-p"]
)
def test_a_prompt_is_no_command_and_names_no_file(lab: Lab, kind: str, text: str) -> None:
    reply, requests = answered(lab, kind, question(text), [ScriptedAnswer("hm")])
    assert reply.text == "hm"
    assert [words.strip() for _, words in turns(requests[0])] == [text]
    host = Path("/etc/hostname").read_text().strip()
    assert f"{host}\\n" not in json.dumps(requests[0].body)


def test_an_answer_satisfies_a_schema(lab: Lab, kind: str) -> None:
    given = {"verdict": "pass"}
    as_tool = ScriptedAnswer("", tool_uses=(ToolUse("t1", "StructuredOutput", given),))
    script = [as_tool if kind == "claude-code" else ScriptedAnswer(json.dumps(given))]
    call = question("Judge.", response_schema=VERDICT)
    reply, requests = answered(lab, kind, call, script)
    assert json.loads(reply.text) == given
    assert '"enum": ["pass", "fail"]' in json.dumps(requests[0].body)


def test_nothing_of_the_user_or_the_project_gets_in(lab: Lab, kind: str) -> None:
    """Hooks, MCP servers, settings and instructions are planted wherever one may look."""
    mark = lab.folder / "side-effect"
    hooks = json.dumps(
        {"hooks": {event: [HOOK] for event in ("SessionStart", "UserPromptSubmit", "Stop")}}
    ).replace("{mark}", str(mark))
    server = {"mcpServers": {"smuggled": {"command": "touch", "args": [str(mark)]}}}
    home = lab.folder / "home"
    for folder in (home, lab.folder, lab.tmp):
        (folder / ".claude").mkdir(exist_ok=True)
        (folder / ".codex").mkdir(exist_ok=True)
        for name in ("CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md", ".codex/AGENTS.md"):
            (folder / name).write_text("PLANTED instructions")
        for name in ("settings.json", "settings.local.json"):
            (folder / ".claude" / name).write_text(hooks)
        (folder / ".codex/hooks.json").write_text(hooks)
        (folder / ".mcp.json").write_text(json.dumps(server))
        (folder / ".claude.json").write_text(json.dumps(server))
        (folder / ".codex/config.toml").write_text(
            f'developer_instructions = "PLANTED"\nnotify = ["touch", "{mark}"]\n'
            f'[mcp_servers.smuggled]\ncommand = "touch"\nargs = ["{mark}"]\n'
        )
    for name in (".bash_profile", ".profile", ".bashrc", ".zshenv"):
        (home / name).write_text(f"touch {mark}\n")
    lab.log_in(kind, fake_login(kind))
    with ModelServer([ScriptedAnswer("ok")]) as model:
        call = question("Hello.", url(kind, model), system="Only this.")
        assert lab.ask(lab.provider(kind), call).text == "ok"
        (request,) = model.calls
    body = json.dumps(request.body)
    assert "PLANTED" not in body
    assert "smuggled" not in body
    assert str(home) not in body
    assert not mark.exists()
    names = {name.rpartition(".")[2] for name in request.tool_names}
    assert not names & {"Bash", "Read", "Edit", "Write", "shell", "exec_command", "spawn_agent"}
    # All that Claude Code adds of its own; Codex describes tools that refuse.
    assert len(body) < (4_000 if kind == "claude-code" else 17_000)


def test_a_tool_that_the_model_asks_for_is_not_run(lab: Lab, kind: str) -> None:
    mark = lab.folder / "side-effect"
    command = f"touch {mark}"
    uses = {
        "claude-code": ToolUse("t1", "Bash", {"command": command}),
        "codex": ToolUse("t1", "exec", f"await tools.exec_command({json.dumps({'cmd': command})})"),
    }
    script = [ScriptedAnswer("", tool_uses=(uses[kind],)), ScriptedAnswer("done")]
    reply, _ = answered(lab, kind, question("Hello."), script)
    assert not mark.exists()
    if kind == "claude-code":
        assert isinstance(reply, ProviderError)
    else:  # it is told that there is no such thing, and answers
        assert reply.text == "done"


@pytest.mark.parametrize(
    ("status", "expected"),
    [(401, "login"), (403, "login"), (429, "rate_limit"), (500, "server"), (529, "server")],
)
def test_trouble_of_the_world(lab: Lab, kind: str, status: int, expected: str) -> None:
    trouble, requests = answered(lab, kind, question(), [ScriptedAnswer(status=status)])
    assert isinstance(trouble, InfraError)
    assert trouble.kind == expected
    assert 1 <= len(requests) <= 4


def test_a_spent_usage_limit_ends_it_at_once_and_says_when_it_is_lifted(
    lab: Lab, kind: str
) -> None:
    lifted = int(time.time()) + 5000
    answer = spent_limit(kind, lifted)
    lab.log_in(kind, subscription_login(kind))
    with ModelServer([answer]) as server:
        trouble = lab.refused(lab.provider(kind), question(url=url(kind, server)))
    assert isinstance(trouble, InfraError)
    assert trouble.kind == "quota"
    assert re.search(r"(resets|try again at) \d+(:\d\d)? ?(am|pm)", str(trouble), re.IGNORECASE)


def test_a_model_that_is_not_there_is_refused(lab: Lab, kind: str) -> None:
    script = [ScriptedAnswer(status=404, error="model: nope-1")]
    trouble, _ = answered(lab, kind, question(model="nope-1"), script)
    assert isinstance(trouble, ProviderError)


def test_a_question_that_is_too_long_is_refused(lab: Lab, kind: str) -> None:
    words = {
        "claude-code": "prompt is too long: 210000 tokens > 200000 maximum",
        "codex": "Your input exceeds the context window of this model.",
    }
    script = [ScriptedAnswer(status=400, error=words[kind])]
    trouble, _ = answered(lab, kind, question(), script)
    assert isinstance(trouble, ProviderError)
    assert any(part in str(trouble) for part in ("too long", "context window"))


def test_a_server_that_is_not_there_is_a_network_problem(lab: Lab, kind: str) -> None:
    with ModelServer() as server:
        gone = url(kind, server)
    lab.log_in(kind, fake_login(kind))
    trouble = lab.refused(lab.provider(kind), question(url=gone))
    assert isinstance(trouble, InfraError)
    assert trouble.kind == "network"


def test_a_server_that_hangs_takes_no_longer_than_allowed(lab: Lab, kind: str) -> None:
    lab.log_in(kind, fake_login(kind))
    with ModelServer([ScriptedAnswer(fault=Fault.HANG)]) as server:
        provider = lab.provider(kind, timeout_s=6.0)
        trouble = lab.refused(provider, question(url=url(kind, server)))
        server.wait_until(lambda it: it.gone >= 1)
    assert isinstance(trouble, InfraError)
    assert (trouble.kind, lab.left()) == ("network", [])


def test_a_cancel_leaves_no_process_and_no_folder(lab: Lab, kind: str) -> None:
    lab.log_in(kind, fake_login(kind))
    with ModelServer([ScriptedAnswer(fault=Fault.HANG)]) as server:

        async def cancelled(provider: Provider) -> list[Path]:
            call = asyncio.ensure_future(provider.complete(question(url=url(kind, server))))
            await asyncio.to_thread(server.wait_until, lambda it: bool(it.calls))
            call.cancel()
            await asyncio.wait([call])
            return list(lab.places())

        assert lab.session(lab.provider(kind), cancelled) == []
        server.wait_until(lambda it: it.gone >= 1)
    assert lab.left() == []
    assert using(lab.tmp) == []


def test_two_run_at_a_time(lab: Lab, kind: str) -> None:
    lab.log_in(kind, fake_login(kind))
    with ModelServer([ScriptedAnswer(fault=Fault.HANG)]) as server:

        async def counted(provider: Provider) -> list[int]:
            asked = question(url=url(kind, server))
            calls = [asyncio.ensure_future(provider.complete(asked)) for _ in range(3)]
            await asyncio.to_thread(server.wait_until, lambda it: len(it.calls) == 2)
            counts = [len(lab.places())]
            calls[0].cancel()
            await asyncio.to_thread(server.wait_until, lambda it: len(it.calls) == 3)
            counts.append(len(lab.places()))
            for call in calls[1:]:
                call.cancel()
            await asyncio.wait(calls)
            return [*counts, len(lab.places())]

        assert lab.session(lab.provider(kind), counted) == [2, 2, 0]


def using(folder: Path) -> list[str]:
    """Return the processes that have something to do with a folder, of which Linux knows."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if str(folder).encode() in entry.read_bytes():
                found.append((entry.parent / "comm").read_text().strip())
        except OSError:
            continue
    return found


def test_the_login_lets_it_in_and_stays_as_it_is(lab: Lab, kind: str) -> None:
    login = lab.log_in(kind, fake_login(kind))
    before = login.read_bytes()
    with ModelServer([ScriptedAnswer("ok")]) as server:
        assert lab.ask(lab.provider(kind), question(url=url(kind, server))).text == "ok"
        assert server.calls[0].headers["authorization"] == "present"
    assert login.read_bytes() == before


def test_two_calls_are_one_to_a_replay(lab: Lab, kind: str) -> None:
    """What differs between them is what `recording` leaves out."""
    lab.log_in(kind, fake_login(kind))
    with ModelServer([ScriptedAnswer("ok")]) as server:
        for base in (server.url, server.v1_url):  # either form is an address
            lab.ask(lab.provider(kind), question("Hello.", base, system="Be brief."))
        one, two = (request.body for request in server.calls)
    assert canonical_content(one) == canonical_content(two)


def test_a_key_lets_it_in_where_there_is_no_login(lab: Lab, kind: str) -> None:
    with ModelServer([ScriptedAnswer("ok")], api_key="the-key") as server:
        lab.environ[KEYS[kind]] = "the-key"
        assert lab.ask(lab.provider(kind), question(url=url(kind, server))).text == "ok"
        lab.environ[KEYS[kind]] = "another"
        trouble = lab.refused(lab.provider(kind), question(url=url(kind, server)))
    assert isinstance(trouble, InfraError)
    assert trouble.kind == "login"

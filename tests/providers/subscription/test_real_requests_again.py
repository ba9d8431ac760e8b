"""A request that the real Claude Code and Codex made themselves is gone on with as it was."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.providers.subscription.lab import AGENTS, Lab, needs_agents
from tests.providers.subscription.test_real_next_turns import sent

from fairtrial.model.call import Api, ToolUse, WireCall
from fairtrial.providers.cli_codex_turn import CONTINUE
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer

pytestmark = [needs_agents]
SAID = (
    *("message", "reasoning", "function_call", "function_call_output"),
    *("custom_tool_call", "custom_tool_call_output"),
)
RULE = "Never push to main, 'ever'."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with instructions for both agents."""
    path = tmp_path / "project"
    path.mkdir()
    for name in ("CLAUDE.md", "AGENTS.md"):
        (path / name).write_text(f"# Rules\n\n{RULE}\n", encoding="utf-8")
    who = ("-c", "user.name=T", "-c", "user.email=t@example.com")
    for words in (["init", "-qb", "main"], ["add", "-A"], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", *who, *words], cwd=path, check=True)
    return path


def recorded(
    project: Path, argv: list[str], env: dict[str, str], script: list[ScriptedAnswer]
) -> Any:
    """Return the last request that an agent makes when a model answers it so."""
    home = project.parent / "agent-home"
    home.mkdir()
    with ModelServer(script) as server:
        base = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        whole = [word.replace("{url}", server.v1_url) for word in argv]
        own = {name: value.replace("{url}", server.url) for name, value in env.items()}
        subprocess.run(
            whole, cwd=project, env=base | own, check=True, stdin=subprocess.DEVNULL, timeout=120
        )
        return server.calls[-1].body


def without_marks(value: Any) -> Any:
    """Return JSON without what marks it for the cache or names the run."""
    left_out = ("cache_control", "id", "internal_chat_message_metadata_passthrough", "status")
    if isinstance(value, dict):
        return {k: without_marks(part) for k, part in value.items() if k not in left_out}
    return [without_marks(part) for part in value] if isinstance(value, list) else value


def trimmed(item: Any) -> Any:
    """Return an item without blanks at the end of a developer's text, which Codex takes off."""
    if item.get("role") != "developer":
        return item
    texts = [part | {"text": part["text"].rstrip()} for part in item["content"]]
    return item | {"content": texts}


def blocks(message: Any) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def test_of_claude_code(lab: Lab, project: Path) -> None:
    call = ToolUse("t1", "Bash", {"command": "cat CLAUDE.md; exit 3"})
    script = [ScriptedAnswer("I look.", (call,)), ScriptedAnswer("done")]
    env = {
        "ANTHROPIC_BASE_URL": "{url}",
        "ANTHROPIC_API_KEY": "sk-ant-any-key",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    argv = [str(AGENTS / "claude"), "-p", "Fix add.", "--model", "claude-sonnet-5-5"]
    argv += ["--setting-sources", "project", "--allowedTools", "Bash"]
    body = recorded(project, argv, env, script)
    assert RULE in json.dumps(body["messages"])
    again = WireCall(Api.ANTHROPIC_MESSAGES, body)
    _, (request,) = sent(lab, "claude-code", again, [ScriptedAnswer("ok")])
    was, now = without_marks(body["messages"]), without_marks(request.body["messages"])
    for place, message in enumerate(was):
        assert now[place]["role"] == message["role"]
        kept = blocks(now[place])[: len(blocks(message))]
        assert kept == blocks(message), f"message {place}"
    added = [block for message in now[len(was) :] for block in blocks(message)]
    added += blocks(now[len(was) - 1])[len(blocks(was[-1])) :]
    assert [block["text"] for block in added] == [CONTINUE], "all else the model knows already"
    ours = [block["text"] for block in request.body["system"]]
    assert ours[1:] == [block["text"] for block in body["system"]][1:]
    assert request.body["output_config"] == body["output_config"]


@pytest.mark.parametrize("model", ["gpt-5.5", "gpt-6-sol"])
def test_of_codex(lab: Lab, project: Path, model: str) -> None:
    code = 'text(await tools.exec_command({cmd: "cat AGENTS.md"}))'
    call = ToolUse("t1", "exec_command", {"cmd": "cat AGENTS.md"})
    call = ToolUse("t1", "exec", code) if model == "gpt-6-sol" else call
    script = [ScriptedAnswer("I look.", (call,)), ScriptedAnswer("done")]
    provider = '{name="x",base_url="{url}",wire_api="responses",env_key="KEY"}'
    argv = [str(AGENTS / "codex"), "exec", "-m", model, "-c", "model_provider=x"]
    argv += ["-c", f"model_providers.x={provider}", "-c", "features.plugins=false"]
    argv += ["-s", "danger-full-access", "Fix add."]
    body = recorded(project, argv, {"KEY": "any-key"}, script)
    assert RULE in json.dumps(body["input"])
    again = WireCall(Api.OPENAI_RESPONSES, body)
    _, (request,) = sent(lab, "codex", again, [ScriptedAnswer("ok")])
    was, now = (
        [trimmed(item) for item in without_marks(one["input"]) if item["type"] in SAID]
        for one in (body, request.body)
    )
    assert [item for item in now if item not in was] == [now[-1]]
    assert now[-1]["content"] == [{"type": "input_text", "text": CONTINUE}]
    assert sorted(map(json.dumps, was)) == sorted(map(json.dumps, now[:-1]))
    assert request.body["reasoning"]["effort"] == body["reasoning"]["effort"]

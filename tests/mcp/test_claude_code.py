"""The real Claude Code calls a tool, told by a scripted model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fairtrial.app.bench import Bench
from fairtrial.mcp.marking import NOTICE
from fairtrial.model.call import ToolUse
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer, ScriptedRequest

CLAUDE = Path(__file__).parents[2] / ".agents/node_modules/.bin/claude"
WAIT = "WaitForMcpServers"
pytestmark = pytest.mark.skipif(
    not CLAUDE.exists() or not shutil.which("node"),
    reason="needs the real Claude Code (`make agents`) and node",
)


def claude(folder: Path, server: ModelServer, *words: str) -> subprocess.CompletedProcess[str]:
    home = folder / "agent-home"
    environment = {
        **os.environ,
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": "sk-" + "ant-real-agent-test",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
        # The tools stand in the first request, instead of behind a search for tools.
        "ENABLE_TOOL_SEARCH": "false",
        "MCP_CONNECTION_NONBLOCKING": "0",
    }
    home.mkdir(exist_ok=True)
    return subprocess.run(
        [str(CLAUDE), *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def calling(tool: str, arguments: dict[str, Any]) -> Any:
    """Return a model that calls one tool, then says what it was told."""

    def script(request: ScriptedRequest) -> ScriptedAnswer:
        results = {
            block["tool_use_id"]: json.dumps(block)
            for message in request.body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
            if block.get("type") == "tool_result"
        }
        if "toolu_1" in results:
            return ScriptedAnswer(f"ANSWER {results['toolu_1']}")
        name = next((one for one in request.tool_names if one.endswith(tool)), None)
        if name is not None:
            return ScriptedAnswer("I look.", tool_uses=(ToolUse("toolu_1", name, arguments),))
        if WAIT in request.tool_names and len(results) < 10:  # the server has not started yet
            waiting = ToolUse(f"toolu_wait_{len(results)}", WAIT, {})
            return ScriptedAnswer("I wait.", tool_uses=(waiting,))
        return ScriptedAnswer(f"NO TOOL {request.tool_names} {results}")

    return script


def added(folder: Path) -> None:
    """Register the server as a user does."""
    settings = {"CLAUDE_CONFIG_DIR": str(folder / "agent-home/claude")}
    words = ("init", "--mcp", "--agent", "claude-code", "--yes")
    line = [sys.executable, "-m", "fairtrial", *words]
    done = subprocess.run(line, env={**os.environ, **settings}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_claude_code_reads_with_a_tool(folder: Path, bench: Bench) -> None:
    _ = bench.store
    with ModelServer(calling("exp_list", {})) as server:
        added(folder)
        done = claude(folder, server, "-p", "List.", "--allowedTools", "mcp__fairtrial")
    assert done.returncode == 0, done.stderr
    assert "fairtrial.experiments/1" in done.stdout
    assert NOTICE.split(".", 1)[0] in done.stdout


def test_without_a_person_it_is_refused_with_the_command(folder: Path, cases: str) -> None:
    arguments = {"name": "n", "files": [cases]}
    with ModelServer(calling("dataset_add", arguments)) as server:
        added(folder)
        done = claude(folder, server, "-p", "Add.", "--allowedTools", "mcp__fairtrial")
    assert done.returncode == 0, done.stderr
    assert "is not done unasked" in done.stdout or "did not agree" in done.stdout

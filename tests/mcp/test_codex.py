"""The real Codex starts the server that `init --mcp` registered, told by a scripted model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fairtrial.app.bench import Bench
from fairtrial.model.call import ToolUse
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer, ScriptedRequest

CODEX = Path(__file__).parents[2] / ".agents/node_modules/.bin/codex"
pytestmark = pytest.mark.skipif(
    not CODEX.exists() or not shutil.which("node"),
    reason="needs the real Codex (`make agents`) and node",
)


def script(request: ScriptedRequest) -> ScriptedAnswer:
    """Ask the server what can be read: Codex keeps its tools behind a search of its own."""
    told = json.dumps(request.body["input"])
    if "call_1" in told:
        return ScriptedAnswer(f"ANSWER {told}")
    use = ToolUse("call_1", "list_mcp_resource_templates", {"server": "fairtrial"})
    return ScriptedAnswer("I look.", tool_uses=(use,))


def test_codex_asks_the_server(folder: Path, bench: Bench) -> None:
    _ = bench.store
    home = folder / "codex"
    home.mkdir()
    environ = {**os.environ, "CODEX_HOME": str(home), "T_KEY": "sk-real-agent-test-000000"}
    words = ["init", "--mcp", "--agent", "codex", "--yes"]
    subprocess.run([sys.executable, "-m", "fairtrial", *words], env=environ, check=True)
    with ModelServer(script) as server:
        provider = f'{{name="t",base_url="{server.v1_url}",wire_api="responses",env_key="T_KEY"}}'
        words = ["exec", "--skip-git-repo-check", "-m", "gpt-5.5", "--disable", "plugins"]
        words += ["-c", f"model_providers.t={provider}", "-c", 'model_provider="t"']
        words += ["-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false"]
        words += ["--dangerously-bypass-approvals-and-sandbox", "List."]
        done = subprocess.run(
            [str(CODEX), *words],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "ANSWER" in done.stdout
    assert "fairtrial://experiment/{id}" in done.stdout

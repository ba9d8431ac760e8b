"""The real Claude Code and Codex tell a server of themselves, against a scripted model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.http.conftest import Server

from fairtrial.app.reports.sessions import session_json
from fairtrial.interchange.session_exports.jsonl import event_facts
from fairtrial.model.call import ToolUse
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer, ScriptedRequest

AGENTS = Path(__file__).parents[2] / ".agents/node_modules/.bin"
pytestmark = pytest.mark.skipif(
    not (AGENTS / "claude").exists() or not (AGENTS / "codex").exists() or not shutil.which("git"),
    reason="needs the real Claude Code and Codex (`make agents`), and git",
)
COMMAND = 'echo "1 failed in 0.1s"; exit 3'
PROMPT = "Run the tests and say how it went."


def script(request: ScriptedRequest) -> ScriptedAnswer:
    """Ask for one command, then be done."""
    if "1 failed in" in request.text:
        return ScriptedAnswer("All three pass.")
    names = request.tool_names
    if "Bash" in names:
        use = ToolUse("toolu_1", "Bash", {"command": COMMAND})
    elif "exec_command" in names:
        use = ToolUse("call_1", "exec_command", {"cmd": COMMAND})
    else:
        use = ToolUse("call_1", "shell_command", {"command": COMMAND})
    return ScriptedAnswer("I run them.", tool_uses=(use,))


def claude(home: Path, server: Server, models: ModelServer) -> tuple[list[str], dict[str, str]]:
    words = ["-p", PROMPT, "--model", "claude-sonnet-5-5", "--allowedTools", "Bash"]
    return [str(AGENTS / "claude"), *words], {
        "ANTHROPIC_API_KEY": "sk-" + "ant-real-agent-test",
        "ANTHROPIC_BASE_URL": models.url,
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_EXPORTER_OTLP_ENDPOINT": server.url,
        "OTEL_LOG_USER_PROMPTS": "1",
        "OTEL_LOG_TOOL_DETAILS": "1",
    }


def codex(home: Path, server: Server, models: ModelServer) -> tuple[list[str], dict[str, str]]:
    own = home / "codex"
    own.mkdir()
    (own / "auth.json").write_text(json.dumps({"OPENAI_API_KEY": "sk-real-agent-test-000000"}))
    exporter = f'{{ endpoint = "{server.url}/v1/logs", protocol = "json" }}'
    (own / "config.toml").write_text(
        f"[otel]\nlog_user_prompt = true\nexporter = {{ otlp-http = {exporter} }}\n"
    )
    words = ["exec", "--json", "-m", "gpt-5.5", "--disable", "plugins"]
    words += ["-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false"]
    words += ["-c", f"openai_base_url={models.v1_url}"]
    words += ["--dangerously-bypass-approvals-and-sandbox", PROMPT]
    return [str(AGENTS / "codex"), *words], {"CODEX_HOME": str(own)}


@pytest.mark.parametrize("agent", [claude, codex], ids=["claude-code", "codex"])
def test_what_an_agent_tells_is_its_session(agent: object, server: Server, tmp_path: Path) -> None:
    repo, home = tmp_path / "repo", tmp_path / "agent-home"
    repo.mkdir()
    home.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(repo)], check=True)
    node = shutil.which("node")
    places = ["/usr/local/bin:/usr/bin:/bin", str(Path(node).parent) if node else ""]
    plain = {"HOME": str(home), "PATH": os.pathsep.join(places), "LANG": "C.UTF-8", "TERM": "dumb"}
    with ModelServer(script) as models:
        command, environ = (claude if agent is claude else codex)(home, server, models)
        done = subprocess.run(
            command,
            cwd=repo,
            env={**plain, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    server.stop()
    store = server.bench.store.sessions
    found = store.find("latest")
    session = session_json(found)
    events = [event_facts(event) for event in store.events(found.session.id)]
    assert session["agent"] == ("claude-code" if agent is claude else "codex")
    assert session["first_prompt"] == PROMPT
    assert session["state"] == "completed"
    assert session["counts"] == {
        "turns": 1,
        "calls": 1,
        "failures": 1,
        "denials": 0,
        "changed_files": 0,
        "compactions": 0,
    }
    assert session["tokens"] is not None
    assert [event["command"] for event in events if event["kind"] == "call"] == [COMMAND]
    assert session["unread"]["unknown_records"] == {}

"""The real Claude Code and Codex through the proxy, against a scripted model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fairtrial.model.call import ToolUse
from fairtrial.model.recorded_call import CallBody, CallQuery, RecordedCall
from fairtrial.recording.canonical import difference
from fairtrial.store.opening import open_store
from fairtrial.testing.model_server import Fault, ModelServer, ScriptedAnswer, ScriptedRequest

AGENTS = Path(__file__).parents[2] / ".agents/node_modules/.bin"
pytestmark = pytest.mark.skipif(
    not (AGENTS / "claude").exists() or not (AGENTS / "codex").exists() or not shutil.which("git"),
    reason="needs the real Claude Code and Codex (`make agents`), and git",
)
# Two runs differ in what a clock and a process have to say.
COMMAND = 'echo "3 passed in 0.$(date +%N | cut -c1-2)s"'
PROMPT = "Run the tests and say how it went."


def script(request: ScriptedRequest) -> ScriptedAnswer:
    """Ask for one command, then be done."""
    if "3 passed in" in request.text:
        return ScriptedAnswer("All three pass.")
    names = request.tool_names
    if "Bash" in names:
        return ScriptedAnswer(
            "I run them.", tool_uses=(ToolUse("toolu_1", "Bash", {"command": COMMAND}),)
        )
    tool, field = (
        ("exec_command", "cmd") if "exec_command" in names else ("shell_command", "command")
    )
    return ScriptedAnswer("I run them.", tool_uses=(ToolUse("call_1", tool, {field: COMMAND}),))


@dataclass
class Run:
    """What one run of an agent left."""

    code: int
    out: str
    err: str
    calls: list[tuple[RecordedCall, CallBody]]


@dataclass
class Agent:
    """A real agent, at home in a temporary folder."""

    name: str
    place: Path

    def run(self, server: ModelServer, number: int) -> Run:
        folder = self.place / f"run-{number}"
        repo, home = folder / "repo", folder / "home"
        repo.mkdir(parents=True)
        home.mkdir()
        git = ["git", "-C", str(repo), "-c", "user.name=T", "-c", "user.email=t@example.com"]
        subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
        (repo / "a.py").write_text("A = 1\n")
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "the first one"], check=True)
        command, environ = self._claude(home) if self.name == "claude" else self._codex(home)
        store = home / "store"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "fairtrial", "proxy"),
                *("--anthropic-upstream", server.url, "--openai-upstream", server.v1_url),
                *("--", *command),
            ],
            cwd=repo,
            env={**self._environ(home), **environ, "FAIRTRIAL_HOME": str(store)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        opened = open_store(store)
        try:
            found = [(c, opened.calls.body(c.id)) for c in opened.calls.newest(CallQuery(limit=99))]
        finally:
            opened.close()
        return Run(done.returncode, done.stdout, done.stderr, found[::-1])

    def _environ(self, home: Path) -> dict[str, str]:
        node = shutil.which("node")
        path = os.pathsep.join(
            ["/usr/local/bin:/usr/bin:/bin", str(Path(node).parent) if node else ""]
        )
        return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb"}

    def _claude(self, home: Path) -> tuple[list[str], dict[str, str]]:
        words = ["-p", PROMPT, "--model", "claude-sonnet-5-5", "--allowedTools", "Bash"]
        return [str(AGENTS / "claude"), *words], {
            "ANTHROPIC_API_KEY": "sk-" + "ant-real-agent-test",
            "CLAUDE_CONFIG_DIR": str(home / "claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def _codex(self, home: Path) -> tuple[list[str], dict[str, str]]:
        own = home / "codex"
        own.mkdir()
        (own / "auth.json").write_text(json.dumps({"OPENAI_API_KEY": "sk-real-agent-test-000000"}))
        words = ["exec", "--json", "-m", "gpt-5.5", "--disable", "plugins"]
        words += ["-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false"]
        words += ["--dangerously-bypass-approvals-and-sandbox", PROMPT]
        return [str(AGENTS / "codex"), *words], {"CODEX_HOME": str(own)}


@pytest.fixture(params=["claude", "codex"])
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Agent:
    return Agent(str(request.param), tmp_path)


def model_calls(run: Run) -> list[tuple[RecordedCall, CallBody]]:
    return [(call, body) for call, body in run.calls if call.api is not None]


def asked(body: CallBody) -> Any:
    return json.loads(body.request)


def test_a_session_is_recorded_whole_and_a_second_one_is_the_same(agent: Agent) -> None:
    with ModelServer(script) as server:
        runs = [agent.run(server, number) for number in (1, 2)]
    for run in runs:
        assert run.code == 0, run.err
        assert "All three pass." in run.out
        calls = model_calls(run)
        assert [call.status for call, _ in calls] == [200] * len(calls)
        assert len(calls) == 2
        assert {call.agent for call, _ in calls} == {
            {"claude": "claude-code", "codex": "codex"}[agent.name]
        }
        assert [call.number for call, _ in calls] == [1, 2]
        assert all(call.session and not call.session.startswith("proxy_") for call, _ in calls)
        assert len({call.session for call, _ in calls}) == 1
        assert [call.problem for call, _ in calls] == [None, None]
        assert all(call.streamed and call.tokens is not None for call, _ in calls)
        assert "real-agent-test" not in repr(run.calls)
    for (a, first), (b, second) in zip(*map(model_calls, runs), strict=True):
        assert difference(asked(first), asked(second)) is None
        assert a.canonical == b.canonical
        assert a.session != b.session


def test_an_agent_recovers_from_errors_as_without_a_proxy(agent: Agent) -> None:
    answers = iter(
        [
            ScriptedAnswer(status=529, error="overloaded", headers={"Retry-After": "0"}),
            ScriptedAnswer("words " * 30, fault=Fault.CUT_STREAM),
        ]
    )

    def recover(_: ScriptedRequest) -> ScriptedAnswer:
        return next(answers, None) or ScriptedAnswer("Done.")

    with ModelServer(recover) as server:
        run = agent.run(server, 1)
    assert run.code == 0, run.err
    statuses = [call.status for call, _ in model_calls(run)]
    assert statuses[0] == 529
    assert statuses[-1] == 200
    problems = [call.problem or "" for call, _ in model_calls(run)]
    assert any(problem.startswith("cut: ") for problem in problems)

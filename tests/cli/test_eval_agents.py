"""The real Claude Code and Codex work on eval tasks in sandboxes, against a scripted model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.app.suite_repo import FILES, a_repo, a_task, loaded
from tests.cli.conftest import Outcome
from tests.providers.subscription.lab import AGENTS, PROGRAMS, needs_agents
from tests.sessions.start_state.agents import Agent
from tests.workspaces.levels import needs_bwrap

from fairtrial.app.bench import bench_here
from fairtrial.model.call import ToolUse
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer, ScriptedRequest

pytestmark = [needs_agents, needs_bwrap]

RULE = "Whenever you are asked to fix add, replace the minus."
FIX = "sed -i 's/a - b/a + b/' calc.py"
LOOK = "git log --all --oneline"
MODELS = {"claude-code": "claude-sonnet-5-5", "codex": "gpt-5.5"}


def model(request: ScriptedRequest) -> ScriptedAnswer:
    """Follow the rule only when the instructions have it; be curious in any case."""
    said = json.dumps(request.body)
    if "toolu_1" in said or "call_1" in said:
        return ScriptedAnswer("Done.")
    command = FIX if RULE in said else LOOK
    names = request.tool_names
    if "Bash" in names:
        return ScriptedAnswer("", tool_uses=(ToolUse("toolu_1", "Bash", {"command": command}),))
    if "exec_command" in names:
        return ScriptedAnswer("", tool_uses=(ToolUse("call_1", "exec_command", {"cmd": command}),))
    return ScriptedAnswer("A title")


@dataclass
class Lab:
    """A user with a repository, a suite of one task, and a login of its own."""

    repo: Path
    home: Path

    def environ(self, server: ModelServer) -> dict[str, str]:
        return {
            "PATH": f"{AGENTS}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "FAIRTRIAL_HOME": os.environ["FAIRTRIAL_HOME"],
            "COLUMNS": "100",
            "ANTHROPIC_BASE_URL": server.url,
            "OPENAI_BASE_URL": server.v1_url,
            "ANTHROPIC_API_KEY": "not-a-key-1234567890",
            "OPENAI_API_KEY": "not-a-key-1234567890",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "HTTP_PROXY": "http://127.0.0.1:9",
        }

    def run(self, server: ModelServer, *words: str) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "fairtrial", *words],
            cwd=self.repo,
            env=self.environ(server),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return Outcome(done.returncode, done.stdout, done.stderr)

    def record(self, kind: str, prompt: str, command: str) -> None:
        """Let the real agent work in the repository by itself, and keep its transcript."""
        agent, tmp = Agent(kind, self.home), self.home / "tmp"
        tmp.mkdir()
        tool = (
            ToolUse("toolu_9", "Bash", {"command": command})
            if kind == "claude-code"
            else ToolUse("call_9", "exec_command", {"cmd": command})
        )
        answers = [ScriptedAnswer("", tool_uses=(tool,)), ScriptedAnswer("Done, add works now.")]
        with ModelServer(answers) as server:
            words, environ = agent._command(server, self.repo)
            done = subprocess.run(
                [prompt if word == "Work." else word for word in words],
                cwd=self.repo,
                env={**agent._environ(tmp), **environ},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])


@pytest.fixture
def lab(folder: Path, tmp_path: Path) -> Lab:
    home = tmp_path / "user"
    home.mkdir()
    a_task(folder, a_repo(folder, {**FILES, "CLAUDE.md": "@AGENTS.md\n"}))
    (folder / "new").mkdir()
    (folder / "new" / "AGENTS.md").write_text(f"{RULE}\n")
    with_bench = bench_here()
    loaded(with_bench, folder)
    with_bench.close()
    return Lab(folder, home)


@pytest.mark.parametrize("agent", PROGRAMS)
def test_a_rule_in_the_instructions_is_seen_in_the_verdicts(lab: Lab, agent: str) -> None:
    arms = ("--arm", "before=AGENTS.md", "--arm", "after=new/AGENTS.md")
    words = ("--agent", agent, "--model", MODELS[agent], "--trials", "1", "--yes", "--json")
    with ModelServer(model) as server:
        outcome = lab.run(server, "eval", "run", "failures", *arms, *words)
        assert outcome.code == 0, outcome.err
        report: Any = outcome.json
        rates = {arm["arm"]: arm["pass_at"]["1"]["estimate"] for arm in report["arms"]}
        assert rates == {"before": 0.0, "after": 1.0}
        (isolation,) = report["isolation"]
        assert (isolation["level"], isolation["trials"]) == ("bwrap", 2)
        assert all(arm["tokens"] for arm in report["arms"])
        assert all(arm["cost_usd"] for arm in report["arms"])
        (told,) = report["told"]
        assert (told["arm"], told["verdict"]) == ("before", "failed")
        assert "other commits (git log)" in told["leaks"][0]
        shown = lab.run(server, *told["command"].split()[1:])
        assert shown.code == 0
        assert LOOK in shown.out
        again = lab.run(server, "eval", "run", "failures", *arms, *words, "--dry-run")
        assert again.json["cost"]["basis"] == "earlier trials"
        assert again.json["cost"]["least_usd"] > 0


PROMPT = "Fix add in calc.py: it subtracts its arguments."
REFERENCE = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""


@pytest.mark.parametrize("agent", PROGRAMS)
def test_from_a_recorded_session_to_a_decision(folder: Path, tmp_path: Path, agent: str) -> None:
    """All of it with the real agent: record, draft, solve, validate, run two arms, decide."""
    home = tmp_path / "user"
    home.mkdir()
    lab = Lab(folder, home)
    a_repo(folder, {**FILES, "CLAUDE.md": "@AGENTS.md\n"})
    (folder / "new").mkdir()
    (folder / "new" / "AGENTS.md").write_text(f"{RULE}\n")
    lab.record(agent, PROMPT, "sed -i 's/a - b/a * b/' calc.py; python3 test_calc.py")
    verifier = ("--verifier", "python3 test_calc.py", "--protected", "test_*.py")
    with ModelServer(model) as server:
        synced = lab.run(server, "sessions", "sync", "--path", str(home))
        assert "1 session new" in synced.out, synced.err
        drafted = lab.run(server, "eval", "new", "latest", *verifier, "--json")
        assert drafted.code == 0, drafted.err
        (task,) = drafted.json["tasks"]
        place = Path(task["folder"])
        assert PROMPT in (place / "instruction.md").read_text()
        (place / "reference.patch").write_text(REFERENCE)
        ran = lab.run(server, "eval", "import", str(place))
        assert ran.code == 0, ran.err
        ran = lab.run(server, "eval", "validate", "failures", "--k", "2")
        assert ran.code == 0, ran.out + ran.err
        arms = ("--arm", "before=AGENTS.md", "--arm", "after=new/AGENTS.md")
        words = ("--model", MODELS[agent], "--trials", "1", "--yes", "--json")
        ran = lab.run(server, "eval", "run", "failures", *arms, *words)
        assert ran.code == 0, ran.err
        (read,) = ran.json["tasks"]
        assert (read["validated"], read["reference"]) == (True, True)
        assert read["arms"]["before"]["failed"] == read["arms"]["after"]["passed"] == 1
        decided = lab.run(server, "exp", "compare", "failures", "--gate", "--json")
        assert decided.code == 2, decided.err
        assert decided.json["counts"]["fixed"] == 1
        trials = lab.run(server, "eval", "init", "--sessions", *verifier, "--dry-run", "--json")
        assert not trials.json.get("tasks")

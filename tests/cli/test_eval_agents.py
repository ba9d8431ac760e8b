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

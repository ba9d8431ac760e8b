"""The agent task: an agent of one's own, and stand-ins for the CLIs, at level `none`."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.suites.shop import a_repo, a_task, workshop

from fairtrial.model.case import Case
from fairtrial.model.errors import InfraError, TaskError, UsageError
from fairtrial.model.eval_task import EvalTask
from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.ports import Surroundings
from fairtrial.suites.workshop import Kept
from fairtrial.tasks.registry import build_task, task_spec
from fairtrial.workspaces.host.client import HostWorkspace


class Trial:
    """Lets an agent work on a task once; what it kept of the transcript is in `kept`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repo = a_repo(folder / "repo")
        (folder / "home").mkdir()
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(folder / "home")}
        self.kept: list[tuple[str, Mapping[str, bytes]]] = []

    def run(
        self, options: Mapping[str, Any], task: EvalTask | None = None, **call: Any
    ) -> TaskResult:
        task = a_task(self.repo) if task is None else task
        spec = task_spec({"kind": "agent", "level": "none", **options}, "test")
        case = Case("t", task.instruction, metadata={"eval_task": task.digest})

        def keep(agent: str, files: Mapping[str, bytes]) -> Kept | None:
            self.kept.append((agent, files))
            return Kept("ses_1", ())

        async def work() -> TaskResult:
            async with workshop(self.folder / "store", task, keep) as (shop, programs):
                around = Surroundings(self.folder, self.environ, programs, evals=shop)
                agent = build_task(spec, around, "test")
                try:
                    await agent.open()
                    return await agent.run(TaskCall(case, "main", 1, 1, 7, **call))
                finally:
                    await agent.close()

        return asyncio.run(work())

    def stand_in(self, source: str) -> str:
        path = self.folder / "stand-in"
        path.write_text(f"#!{sys.executable} -IS\n{source}", encoding="utf-8")
        path.chmod(0o700)
        return str(path)


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    return Trial(tmp_path)


def own(command: str, **more: Any) -> dict[str, Any]:
    return {"agent": "command", "command": command, **more}


def test_what_it_changed_is_the_output(trial: Trial) -> None:
    result = trial.run(own("cat > told; echo b > a.txt; echo done"))
    assert result.error is None
    assert "+b\n" in result.output["patch"]
    assert "+Do it" in result.output["patch"]
    assert (result.output["answer"], result.output["agent"]) == ("done", "command")
    assert result.output["isolation"]["level"] == "none"
    assert (trial.repo / "a.txt").read_text() == "a\n"


def test_nothing_changed_is_an_empty_patch(trial: Trial) -> None:
    assert trial.run(own("true")).output["patch"] == ""


def test_a_change_that_is_no_text_is_kept(trial: Trial) -> None:
    output = trial.run(own("printf '\\344\\n' > a.txt")).output
    assert b"+\xe4\n" in base64.b64decode(output["patch_base64"])


def test_an_arm_s_harness_is_there_and_named(trial: Trial) -> None:
    (trial.folder / "rules.md").write_text("be brief")
    result = trial.run(own("cat rules.md; echo b > a.txt", harness="rules.md"))
    assert "rules.md" not in result.output["patch"]
    assert (result.output["answer"], result.output["harness_files"]) == ("be brief", ["rules.md"])


def test_one_that_fails_keeps_what_it_changed(trial: Trial) -> None:
    result = trial.run(own("echo b > a.txt; echo broken >&2; exit 3"))
    assert result.error == "exit status 3: broken"
    assert "+b\n" in result.output["patch"]


def test_a_change_too_large_to_tell_is_its_failure(trial: Trial) -> None:
    result = trial.run(own("head -c 20000000 /dev/urandom > noise"))
    assert result.error == (
        "what the agent changed cannot be told: the diff is larger than 16,777,216 bytes"
    )
    assert "patch" not in result.output


def test_over_its_limit_it_is_graded_all_the_same(trial: Trial) -> None:
    task = replace(a_task(trial.repo), agent_limit_s=0.5)
    result = trial.run(own("echo b > a.txt; sleep 60"), task)
    assert (result.error, result.timed_out) == (None, False)
    assert "+b\n" in result.output["patch"]
    assert result.metrics["over_limit"] == 1
    assert result.note == "the agent ran over its limit of 0.5 s"


def test_the_limit_of_a_trial_counts_too(trial: Trial) -> None:
    result = trial.run(own("sleep 60"), time_limit_s=0.5)
    assert result.metrics["over_limit"] == 1


def test_a_trial_s_own_variables_reach_it(trial: Trial) -> None:
    environ = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9/t"}
    result = trial.run(own("echo $ANTHROPIC_BASE_URL $KEY", env={"KEY": "k"}), environ=environ)
    assert result.output["answer"] == "http://127.0.0.1:9/t k"


CLAUDE = """
import json, os, sys
config = os.environ["CLAUDE_CONFIG_DIR"]
folder = config + "/projects/-workspace"
os.makedirs(folder)
open(folder + "/s.jsonl", "w").write("{}")
login = config + "/.credentials.json"
if os.path.exists(login):
    open(login, "a").write(" renewed")
open("a.txt", "w").write(sys.stdin.read() + " " + " ".join(sys.argv[1:]))
print(json.dumps({"type": "result", "result": "done", "is_error": False, **%s}))
"""


def test_claude_code_is_given_a_copy_of_the_login_and_its_renewal_is_kept(trial: Trial) -> None:
    login = trial.folder / "home" / ".claude" / ".credentials.json"
    login.parent.mkdir()
    login.write_text("a login")
    result = trial.run({"agent": "claude-code", "program": trial.stand_in(CLAUDE % "{}")})
    assert result.output["answer"] == "done"
    assert login.read_text() == "a login renewed"
    assert trial.kept == [("claude-code", {"-workspace/s.jsonl": b"{}"})]
    assert result.output["session"] == "ses_1"
    assert "a login" not in json.dumps(result.output)


def test_claude_code_is_told_what_was_asked_for(trial: Trial) -> None:
    trial.environ["ANTHROPIC_API_KEY"] = "sk-ant-0123456789"
    asked = {"model": "m", "max_turns": 7, "effort": "low"}
    result = trial.run({"agent": "claude-code", "program": trial.stand_in(CLAUDE % "{}"), **asked})
    for words in (
        "Do it",
        "--model m",
        "--max-turns 7",
        "--effort low",
        "--setting-sources project",
    ):
        assert words in result.output["patch"]


def test_all_turns_used_up_is_no_failure_by_itself(trial: Trial) -> None:
    trial.environ["ANTHROPIC_API_KEY"] = "sk-ant-0123456789"
    ended = {"is_error": True, "terminal_reason": "max_turns", "subtype": "error_max_turns"}
    result = trial.run({"agent": "claude-code", "program": trial.stand_in(CLAUDE % ended)})
    assert (result.error, result.note) == (None, "the agent used up all its turns")


def test_a_spent_limit_is_infrastructure(trial: Trial) -> None:
    trial.environ["ANTHROPIC_API_KEY"] = "sk-ant-0123456789"
    ended = {
        "is_error": True,
        "result": "Claude usage limit reached",
        "terminal_reason": "api_error",
    }
    with pytest.raises(InfraError, match="usage limit") as caught:
        trial.run({"agent": "claude-code", "program": trial.stand_in(CLAUDE % ended)})
    assert caught.value.kind == "quota"


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_without_a_login_nothing_is_begun(trial: Trial, agent: str) -> None:
    with pytest.raises(InfraError, match="not logged in") as caught:
        trial.run({"agent": agent, "program": trial.stand_in("raise SystemExit(1)")})
    assert caught.value.kind == "login"


CODEX = """
import json, os, sys
folder = os.environ["CODEX_HOME"] + "/sessions/2026/11/29"
os.makedirs(folder)
open(folder + "/rollout-x.jsonl", "w").write("{}")
open("a.txt", "w").write(sys.stdin.read() + " " + " ".join(sys.argv[1:]))
def say(kind, **more): print(json.dumps({"type": kind, **more}))
say("item.completed", item={"type": "agent_message", "text": "done"})
say("turn.completed", usage={"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 3})
"""


def test_codex_s_answer_tokens_and_transcript_are_kept(trial: Trial) -> None:
    trial.environ["OPENAI_API_KEY"] = "sk-0123456789"
    result = trial.run({"agent": "codex", "program": trial.stand_in(CODEX), "model": "m"})
    assert (result.output["answer"], result.output["model"]) == ("done", "m")
    assert result.tokens is not None
    assert (result.tokens.input, result.tokens.cache_read, result.tokens.output) == (6, 4, 3)
    assert trial.kept == [("codex", {"2026/11/29/rollout-x.jsonl": b"{}"})]
    assert "--dangerously-bypass-approvals-and-sandbox" in result.output["patch"]


def test_a_turn_that_failed_is_the_agent_s_failure(trial: Trial) -> None:
    trial.environ["OPENAI_API_KEY"] = "sk-0123456789"
    failed = "import json\nprint(json.dumps({'type': 'turn.failed', 'error': {'message': 'odd'}}))"
    result = trial.run({"agent": "codex", "program": trial.stand_in(failed)})
    assert result.error == "codex: odd"


def test_a_case_that_is_no_eval_task_is_told(trial: Trial) -> None:
    spec = task_spec({"kind": "agent", "agent": "command", "command": "true"}, "test")

    async def work() -> None:
        async with workshop(trial.folder / "store", a_task(trial.repo)) as (shop, programs):
            around = Surroundings(trial.folder, trial.environ, programs, evals=shop)
            await build_task(spec, around, "test").run(TaskCall(Case("c", 1), "main", 1, 1, 7))

    with pytest.raises(TaskError, match="case c is no eval task"):
        asyncio.run(work())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"agent": "command"}, "needs to know what to run"),
        ({"agent": "codex", "command": "x"}, "no effect with agent 'codex'"),
        ({"agent": "command", "command": "x", "image": "i"}, "no effect at level 'none'"),
        ({"agent": "claude-code", "program": "no-such-program"}, "there is no program"),
        ({"agent": "command", "command": "x", "env": {"A": "${NO}"}}, "NO"),
        ({"agent": "command", "command": "x", "harness": "no-such-file"}, "cannot be read"),
        ({"agent": "command", "command": "x", "harness": {"../x": "t"}}, "no path in a workspace"),
        ({"agent": "command", "command": "x", "harness": {".git/hooks/x": "t"}}, "no path in"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    trial: Trial, options: Mapping[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        trial.run(options)


def test_without_eval_tasks_it_cannot_be_built(trial: Trial) -> None:
    around = Surroundings(trial.folder, trial.environ, HostWorkspace(slots=1))
    spec = task_spec({"kind": "agent", "agent": "command", "command": "x"}, "test")
    with pytest.raises(UsageError, match="none can be run here"):
        build_task(spec, around, "test")

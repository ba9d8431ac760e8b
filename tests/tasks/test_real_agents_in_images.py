"""The real Claude Code and Codex, lent to the container of a task, against a scripted model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command, fairtrial
from tests.sessions.start_state.repo import repo_in
from tests.suites.harbor_folders import harbor_task
from tests.workspaces.fixtures import _containers_of_this_session, image

from fairtrial.model.call import ToolUse
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer, ScriptedRequest

__all__ = ["_containers_of_this_session", "fairtrial", "image"]

AGENTS = Path(__file__).parents[2] / ".agents/node_modules/.bin"
pytestmark = pytest.mark.skipif(
    not (AGENTS / "claude").exists() or not (AGENTS / "codex").exists() or not shutil.which("git"),
    reason="needs the real Claude Code and Codex (`make agents`), and git",
)
WORK = "echo 'Hello, world!' > hello.txt; cat built.txt"


def script(request: ScriptedRequest) -> ScriptedAnswer:
    """Ask for one command, then be done."""
    names = request.tool_names
    items = request.body.get("input", [])
    answered = any(str(item.get("type")).endswith("_output") for item in items)
    if answered or '"tool_result"' in json.dumps(request.body):
        return ScriptedAnswer("Done.")
    if "Bash" in names:
        return ScriptedAnswer("", (ToolUse("toolu_1", "Bash", {"command": WORK}),))
    for tool, field in (("exec_command", "cmd"), ("shell_command", "command")):
        if tool in names:
            return ScriptedAnswer("", (ToolUse("call_1", tool, {field: WORK}),))
    return ScriptedAnswer("A title")


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "home").mkdir(exist_ok=True)
    with ModelServer(script) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_BASE_URL", server.v1_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-x1234567890")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-x1234567890abc")
        monkeypatch.setenv("PATH", f"{AGENTS}:{os.environ['PATH']}")
        yield


def libraries_of(program: Path) -> list[str]:
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [word for word in listed.split() if word.startswith("/") and ".so" in word]


def ran(
    fairtrial: Command, folder: Path, agent: str, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """Return the one trial of an agent on a task."""
    repo = repo_in(folder.parent / "shop")
    repo.write("a.py", "a = 1\n")
    repo.commit()
    monkeypatch.chdir(repo.root)
    assert fairtrial("eval", "import", str(folder), "--suite", "greetings").code == 0
    model = "claude-sonnet-5-5" if agent == "claude-code" else "gpt-5.5"
    words = ("--agent", agent, "--model", model, "--trials", "1", "--retries", "0", "--yes")
    done = fairtrial("eval", "run", "greetings", *words, "--json")
    assert done.out, done.err
    return dict(json.loads(done.out))


def test_codex_works_in_any_image(
    fairtrial: Command, image: str, served: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del served
    folder = harbor_task(tmp_path / "hello", image)
    report = ran(fairtrial, folder, "codex", monkeypatch)
    assert report["tasks"][0]["arms"]["main"]["passed"] == 1, json.dumps(report["told"])
    assert report["tasks"][0]["reference"] is True
    (isolation,) = report["isolation"]
    assert isolation["level"] == "image"


def test_claude_code_needs_the_c_library_of_this_machine(
    fairtrial: Command, image: str, served: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del served
    folder = harbor_task(tmp_path / "hello", image)
    report = ran(fairtrial, folder, "claude-code", monkeypatch)
    assert "which the image does not have" in json.dumps(report)


def test_claude_code_works_where_its_c_library_and_bash_are(
    fairtrial: Command, image: str, served: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del served
    folder = harbor_task(tmp_path / "hello", image)
    bash = shutil.which("bash") or ""  # its commands run in bash or zsh alone
    libraries = [*libraries_of((AGENTS / "claude").resolve()), *libraries_of(Path(bash))]
    places = {library: library for library in libraries} | {bash: "/bin/bash"}
    for here, there in places.items():
        place = folder / "environment" / "libraries" / there.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(here, place)
        place.chmod(0o755)
    file = folder / "environment" / "Dockerfile"
    file.write_text(file.read_text() + "COPY libraries/ /\n")
    settings = folder / "task.toml"
    settings.write_text(settings.read_text().replace("memory_mb = 256", "memory_mb = 4096"))
    report = ran(fairtrial, folder, "claude-code", monkeypatch)
    assert report["tasks"][0]["arms"]["main"]["passed"] == 1, json.dumps(report["told"])

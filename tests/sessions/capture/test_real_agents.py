"""The real Claude Code and Codex with the hooks of `fairtrial init`, and a scripted model.

A session is in the store when it has ended, and its first snapshot gives back the repository as it
was before the first turn.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.workspaces.snapshots.conftest import Repo, tree

from fairtrial.model.call import ToolUse
from fairtrial.model.errors import NotFoundError
from fairtrial.model.snapshot import Moment, Snapshot
from fairtrial.store.opening import Store, open_store
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer, ScriptedRequest
from fairtrial.workspaces.snapshots.files import GitSnapshotFiles

AGENTS = Path(__file__).parents[3] / ".agents/node_modules/.bin"
pytestmark = pytest.mark.skipif(
    not (AGENTS / "claude").exists() or not (AGENTS / "codex").exists() or not shutil.which("git"),
    reason="needs the real Claude Code and Codex (`make agents`), and git",
)
WAIT_S = 60.0
COMMAND = "printf changed > dirty.txt; printf made > made.txt; echo quite-$((40+2))"


def script(request: ScriptedRequest) -> ScriptedAnswer:
    """Change a file and make one, then be done."""
    if "quite-42" in request.text:
        return ScriptedAnswer("Done.")
    if "Bash" in request.tool_names:
        use = ToolUse("toolu_1", "Bash", {"command": COMMAND})
    elif "exec_command" in request.tool_names:
        use = ToolUse("call_1", "exec_command", {"cmd": COMMAND})
    else:
        use = ToolUse("call_1", "shell_command", {"command": COMMAND})
    return ScriptedAnswer("I write.", tool_uses=(use,))


@dataclass
class Home:
    """A throwaway home with a repository, and the agents' settings in it."""

    path: Path

    @property
    def store(self) -> Path:
        return self.path / "store"

    def environ(self) -> dict[str, str]:
        node = shutil.which("node")
        folders = ["/usr/local/bin:/usr/bin:/bin", str(Path(node).parent) if node else ""]
        return {
            "HOME": str(self.path),
            "PATH": os.pathsep.join(folders),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "FAIRTRIAL_HOME": str(self.store),
            "CLAUDE_CONFIG_DIR": str(self.path / "claude"),
            "CODEX_HOME": str(self.path / "codex"),
        }

    def fairtrial(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "fairtrial", *words],
            env=self.environ(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def claude(self, server: ModelServer, root: Path) -> None:
        words = ["-p", "Write.", "--model", "claude-sonnet-5-5", "--allowedTools", "Bash"]
        environ = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "sk-" + "ant-real-agent-test",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        self._run([str(AGENTS / "claude"), *words], root, environ)

    def codex(self, server: ModelServer, root: Path, *, trusted: bool) -> None:
        provider = f'{{name="t",base_url="{server.v1_url}",wire_api="responses",env_key="T_KEY"}}'
        words = ["exec", "--json", "-m", "gpt-5.5", "--disable", "plugins"]
        words += ["-c", f"model_providers.t={provider}", "-c", 'model_provider="t"']
        words += ["-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false"]
        # What the user does once in Codex's own terminal.
        words += ["--dangerously-bypass-hook-trust"] if trusted else []
        words += ["--dangerously-bypass-approvals-and-sandbox", "Write."]
        self._run([str(AGENTS / "codex"), *words], root, {"T_KEY": "sk-real-agent-test-000000"})

    def _run(self, command: list[str], root: Path, environ: dict[str, str]) -> None:
        done = subprocess.run(
            command,
            cwd=root,
            env={**self.environ(), **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Done." in done.stdout


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    for name in ("claude", "codex"):
        (tmp_path / name).mkdir()
    home.fairtrial("init", "--yes")
    return home


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    root = tmp_path / "repo"
    root.mkdir()
    repo = Repo(root, tmp_path)
    repo.git("init", "-q", "-b", "main")
    repo.write("dirty.txt", "committed\n")
    repo.commit()
    repo.write("dirty.txt", "edited by hand\r\n")
    repo.write("untracked ü.txt", b"\x00\xff", 0o755)
    return repo


def settled(store: Store, home: Home, agent: str) -> list[Snapshot]:
    """Wait until what the hooks left is in the store; return the snapshots, the first one first."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        try:
            found = store.sessions.find("latest")
        except NotFoundError:
            time.sleep(0.2)
            continue
        left = [*home.store.glob("capture/finished/*"), *home.store.glob("capture/snapshots/*")]
        if not left:
            assert found.session.agent == agent
            assert found.session.counts.calls == 1
            return list(store.snapshots.of_session(agent, found.session.native_id))
        time.sleep(0.2)
    errors = home.store / "capture/errors.jsonl"
    pytest.fail(f"no session came: {errors.read_text() if errors.exists() else 'no error told'}")


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_session_and_its_first_state(agent: str, home: Home, repo: Repo, tmp_path: Path) -> None:
    before, touched = tree(repo.root), repo.state()
    with ModelServer(script) as server:
        if agent == "codex":
            home.codex(server, repo.root, trusted=True)
        else:
            home.claude(server, repo.root)
    after = tree(repo.root)
    assert after != before
    with open_store(home.store) as store:
        snapshots = settled(store, home, agent)
    assert [one.moment for one in snapshots] == [Moment.START, Moment.STOP]
    files = GitSnapshotFiles(home.store, home.environ())
    files.restore(snapshots[0], tmp_path / "first")
    files.restore(snapshots[1], tmp_path / "last")
    assert tree(tmp_path / "first") == before
    assert tree(tmp_path / "last") == after
    now = repo.state()
    assert {name for name in touched if now.get(name) != touched[name]} <= {"index"}
    assert {name for name in now if name.startswith(("objects", "refs", "logs"))} == {
        name for name in touched if name.startswith(("objects", "refs", "logs"))
    }
    assert not (home.store / "capture/errors.jsonl").exists()
    checks = json.loads(home.fairtrial("doctor", "--json"))["checks"]
    (check,) = [check for check in checks if check["name"] == f"capture of {agent}"]
    assert check["ok"] is True
    assert "last event" in check["found"]


def test_codex_without_trust_tells_by_notify(home: Home, repo: Repo) -> None:
    with ModelServer(script) as server:
        home.codex(server, repo.root, trusted=False)
    with open_store(home.store) as store:
        snapshots = settled(store, home, "codex")
    assert [one.moment for one in snapshots] == [Moment.STOP]

"""The hook that agents call: silent, quick, never a failure, whatever it is told."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.sessions.transcripts import Claude
from tests.workspaces.snapshots.conftest import Repo, tree

from fairtrial.app.bench import Bench
from fairtrial.app.capture_settling import settle
from fairtrial.model.snapshot import Moment, Snapshot
from fairtrial.sessions.capture.folder import CaptureFolder
from fairtrial.store.opening import open_store
from fairtrial.workspaces.snapshots.files import GitSnapshotFiles

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")
ID = "0b1c2d3e-0000-4000-8000-000000000001"


@dataclass
class Agent:
    """What calls the hook."""

    home: Path
    cwd: Path
    environ: dict[str, str] = field(default_factory=dict)
    # Nothing is brought into the store beside a test; it does that itself.
    program: tuple[str, ...] = (sys.executable, "-P", "-E", "-m", "fairtrial")

    def tell(self, event: str, **more: Any) -> None:
        payload = {"session_id": ID, "cwd": str(self.cwd), "hook_event_name": event, **more}
        self.send(json.dumps(payload).encode())

    def send(self, data: bytes, *words: str) -> None:
        done = subprocess.run(
            [*self.program, "hook", "--agent", "claude-code", "--home", str(self.home), *words],
            input=data,
            capture_output=True,
            env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **self.environ},
            check=False,
            cwd="/",
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    @property
    def folder(self) -> CaptureFolder:
        return CaptureFolder(self.home)

    def errors(self) -> list[str]:
        return [error["what"] for error in self.folder.errors()]

    def bench(self) -> Bench:
        return Bench(home=self.home, cwd=self.home, environ=dict(os.environ))

    def settled(self) -> list[Snapshot]:
        """Wait until nothing is left to be brought into the store; return the snapshots."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            bench = self.bench()
            settle(bench, lambda _: None)
            bench.close()
            with self.folder.settling() as alone:
                if alone and not [*self.folder.finished(), *self.folder.snapshots()]:
                    with open_store(self.home) as store:
                        return list(store.snapshots.of_session("claude-code", ID))
        pytest.fail(f"it stays: {self.errors()}")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    root = tmp_path / "repo"
    root.mkdir()
    repo = Repo(root, tmp_path)
    repo.git("init", "-q", "-b", "main")
    repo.write("a.txt", "one\n")
    repo.commit()
    return repo


@pytest.fixture
def agent(tmp_path: Path, repo: Repo) -> Agent:
    return Agent(tmp_path / "data", repo.root)


def taken(agent: Agent) -> list[str]:
    return [facts["moment"] for _, facts in agent.folder.snapshots()]


def test_a_session_from_its_start_to_its_end(agent: Agent, repo: Repo, tmp_path: Path) -> None:
    repo.write("a.txt", "by hand\n")
    first = tree(repo.root)
    agent.tell("SessionStart", source="startup")
    agent.tell("UserPromptSubmit", prompt="Fix it")
    agent.tell("PreToolUse", tool_name="Bash")
    assert taken(agent) == ["start"]
    assert not (agent.home / "fairtrial.db").exists()  # nobody waits for the store
    repo.write("a.txt", "by the agent\n")
    agent.tell("Stop")
    agent.tell("SessionEnd", reason="exit")
    snapshots = agent.settled()
    assert [one.moment for one in snapshots] == [Moment.START, Moment.STOP]
    files = GitSnapshotFiles(agent.home, dict(os.environ))
    shutil.rmtree(repo.root)
    files.restore(snapshots[0], tmp_path / "first")
    assert tree(tmp_path / "first") == first
    assert b"-by hand\n+by the agent\n" in files.diff(*snapshots)
    assert agent.errors() == []


def test_what_the_user_does_between_turns_is_taken(agent: Agent, repo: Repo) -> None:
    agent.tell("SessionStart", source="startup")
    agent.tell("Stop")
    agent.tell("UserPromptSubmit")  # nothing changed since
    repo.write("a.txt", "by hand\n")
    agent.tell("UserPromptSubmit")
    assert [one.moment for one in agent.settled()] == [Moment.START, Moment.PROMPT]


def test_a_tool_takes_what_is_missing(agent: Agent, repo: Repo) -> None:
    agent.tell("PreToolUse", tool_name="Edit")
    repo.write("a.txt", "two\n")
    agent.tell("PreToolUse", tool_name="Edit")
    assert taken(agent) == ["start"]


def test_tools_at_the_same_time_take_one(agent: Agent) -> None:
    payload = {"session_id": ID, "cwd": str(agent.cwd), "hook_event_name": "PreToolUse"}
    words = [*agent.program, "hook", "--agent", "claude-code", "--home", str(agent.home)]
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    running = [subprocess.Popen(words, stdin=subprocess.PIPE, env=env) for _ in range(4)]
    for process in running:
        process.communicate(json.dumps(payload).encode())
    assert [process.returncode for process in running] == [0] * 4
    assert taken(agent) == ["start"]


def test_a_compaction_is_no_start(agent: Agent) -> None:
    agent.tell("SessionStart", source="compact")
    assert taken(agent) == []


def test_the_transcript_is_read_when_a_turn_ends(agent: Agent, tmp_path: Path) -> None:
    story = Claude(session=ID)
    story.prompt("Fix it")
    story.said("Done.")
    path = story.write(tmp_path / "projects/-repo")
    agent.tell("Stop", transcript_path=str(path))
    agent.settled()
    with open_store(agent.home) as store:
        assert store.sessions.find("latest").session.native_id == ID


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[1, 2]",
        b'{"hook_event_name": "SessionStart"}',
        b'{"hook_event_name": "SessionStart", "session_id": 7, "cwd": "/"}',
        b'{"hook_event_name": "Stop", "session_id": "x", "cwd": "/a\\u0000b"}',
        b"[" * 100_000,
    ],
)
def test_garbage_is_told_to_doctor_alone(agent: Agent, data: bytes) -> None:
    agent.send(data)
    assert len(agent.errors()) == 1
    agent.tell("SessionStart", source="startup")
    assert taken(agent) == ["start"]


@pytest.mark.parametrize(
    "data", [b"{}", b'{"hook_event_name": "Notification"}', b'{"hook_event_name": ["x"]}']
)
def test_events_of_no_use_are_passed_over(agent: Agent, data: bytes) -> None:
    agent.send(data)
    assert agent.errors() == []


def test_an_id_that_is_a_path_leads_nowhere(agent: Agent, tmp_path: Path) -> None:
    agent.tell("SessionStart", session_id="../../escaped")
    assert taken(agent) == ["start"]
    assert not list(tmp_path.rglob("*escaped*"))


@pytest.mark.parametrize("how", ["gone", "none", "bare"])
def test_where_no_snapshot_can_be_taken_nothing_is_wrong(
    agent: Agent, repo: Repo, tmp_path: Path, how: str
) -> None:
    agent.cwd = tmp_path / how
    if how == "none":
        agent.cwd.mkdir()
    elif how == "bare":
        repo.git("init", "-q", "--bare", str(agent.cwd))
    agent.tell("SessionStart", source="startup")
    agent.tell("PreToolUse", tool_name="Bash")
    agent.tell("Stop")
    assert agent.errors() == []
    assert agent.settled() == []


def test_a_data_folder_that_cannot_be_written(agent: Agent) -> None:
    agent.home.write_text("a file")
    agent.tell("SessionStart", source="startup")
    agent.tell("Stop")
    assert agent.home.read_text() == "a file"


def test_a_full_disk_is_told_and_leaves_nothing_half(agent: Agent) -> None:
    agent.tell("SessionStart", source="startup")
    (agent.home / "snapshots").rename(agent.home / "kept")
    (agent.home / "snapshots").write_text("no folder")
    agent.tell("UserPromptSubmit")
    agent.tell("Stop")
    assert any("snapshots" in what for what in agent.errors())
    assert not list(agent.home.rglob(".*"))


@pytest.mark.parametrize("how", ["newer", "locked", "broken"])
def test_a_store_that_cannot_be_opened_gets_it_later(agent: Agent, how: str) -> None:
    with open_store(agent.home):
        pass
    database = agent.home / "fairtrial.db"
    kept = database.read_bytes()
    if how == "broken":
        database.write_bytes(b"no database" * 1000)
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        if how == "newer":
            other.execute("UPDATE alembic_version SET version_num = '9999'")
        elif how == "locked":
            other.execute("BEGIN EXCLUSIVE")
        agent.tell("SessionStart", source="startup")
        assert taken(agent) == ["start"]
        if how != "locked":  # that one would wait for half a minute
            bench = agent.bench()
            settle(bench, lambda _: None)
            bench.close()
            assert taken(agent) == ["start"]
            assert any("fairtrial" in what for what in agent.errors())
    for part in agent.home.glob("fairtrial.db*"):
        part.unlink()
    database.write_bytes(kept)
    assert [one.moment for one in agent.settled()] == [Moment.START]


def test_it_can_be_switched_off(agent: Agent) -> None:
    agent.environ["FAIRTRIAL_CAPTURE"] = "off"
    agent.tell("SessionStart", source="startup")
    assert not agent.home.exists()


def test_modules_of_the_agents_folder_are_not_loaded(agent: Agent, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(3)")
    done = subprocess.run(
        [*agent.program, "hook", "--agent", "claude-code", "--home", str(agent.home)],
        input=b"{}",
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 0


def test_events_of_tools_are_cheap() -> None:
    """What holds up each tool loads none of what only snapshots and the store need."""
    program = (
        "import sys; from fairtrial.cli.main import main\n"
        "main(['hook', '--agent', 'x', '--home', '/nonexistent'])\n"
        "heavy = {'sqlalchemy', 'msgspec', 'rich', 'numpy', 'asyncio', 'ulid', 'aiohttp'}\n"
        "found = heavy & set(sys.modules) | {m for m in sys.modules if 'snapshots' in m}\n"
        "sys.exit(len(found))\n"
    )
    payload = b'{"hook_event_name": "Other"}'
    done = subprocess.run([sys.executable, "-c", program], input=payload, check=False)
    assert done.returncode == 0

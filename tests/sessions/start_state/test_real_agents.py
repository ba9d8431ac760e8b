"""What real sessions of Claude Code and Codex began with, rebuilt after the fact, and the truth."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from tests.sessions.start_state.agents import Agent, needs_agents
from tests.sessions.start_state.repo import Repo, repo_in, tree_of

from fairtrial.cli.main import main
from fairtrial.model.call import ToolUse

pytestmark = needs_agents

Tree = dict[str, tuple[str, bytes]]


class Uses:
    """Makes tool calls in the words of an agent."""

    def __init__(self, kind: str, root: Path) -> None:
        self.kind = kind
        self.root = root
        self._count = 0

    def _use(self, name: str, given: Any) -> list[ToolUse]:
        self._count += 1
        return [ToolUse(f"call_{self._count}", name, given)]

    def read(self, path: str) -> Iterator[list[ToolUse]]:
        if self.kind == "claude-code":
            yield self._use("Read", {"file_path": str(self.root / path)})

    def edit(self, path: str, old: str, new: str) -> Iterator[list[ToolUse]]:
        if self.kind == "claude-code":
            yield from self.read(path)
            given = {"file_path": str(self.root / path), "old_string": old, "new_string": new}
            yield self._use("Edit", given)
        else:
            yield self._patch(f"*** Update File: {path}\n@@\n-{old}\n+{new}")

    def write(self, path: str, content: str) -> Iterator[list[ToolUse]]:
        if self.kind == "claude-code":
            given = {"file_path": str(self.root / path), "content": content}
            yield self._use("Write", given)
        else:
            lines = "".join(f"\n+{line}" for line in content.splitlines())
            yield self._patch(f"*** Add File: {path}{lines}")

    def delete(self, path: str) -> Iterator[list[ToolUse]]:
        if self.kind == "claude-code":
            yield from self.shell(f"rm {path}")
        else:
            yield self._patch(f"*** Delete File: {path}")

    def shell(self, command: str) -> Iterator[list[ToolUse]]:
        if self.kind == "claude-code":
            yield self._use("Bash", {"command": command, "description": "work"})
        else:
            yield self._use("exec_command", {"cmd": command})

    def _patch(self, body: str) -> list[ToolUse]:
        return self._use("apply_patch", f"*** Begin Patch\n{body}\n*** End Patch\n")


def dirty_shop(root: Path) -> Repo:
    """Return a repository in the state in which people leave theirs."""
    repo = repo_in(root)
    for name in ("clean", "edited", "deleted", "unseen", "staged", "shell", "rewritten"):
        repo.write(f"{name}.py", f"# {name}\nvalue = 1\n")
    repo.write("win.txt", b"one\r\ntwo\r\n")
    repo.write("run.sh", "true\n").chmod(0o755)
    repo.write("src/deep/a.py", "a = 1\n")
    (repo.root / "link").symlink_to("clean.py")
    repo.write(".gitignore", "*.log\n")
    repo.commit("one")
    repo.write("edited.py", "# edited\nvalue = 2\nmore = 1\n")
    repo.write("unseen.py", "# unseen and dirty\n")
    repo.write("staged.py", "# staged\nvalue = 3\n")
    repo.git("add", "staged.py")
    repo.write("win.txt", b"one\r\nTWO\r\n")
    (repo.root / "deleted.py").unlink()
    repo.write("new/untracked \u00fc.py", "u = 1\n")
    repo.write("new/other.py", "o = 1\n")
    return repo


def rebuilt(folder: Path) -> tuple[Any, Tree]:
    """Read the newest session, write what it began with, and return its state and its tree."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(["sessions", "sync", "--json"]) == 0
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(["sessions", "checkout", "latest", str(folder), "--force", "--json"]) == 0
    return json.loads(out.getvalue())["start"], tree_of(folder)


def wrong(true: Tree, tree: Tree, start: Any) -> set[str]:
    """Return the files that are not as they were, and not listed as unknown either."""
    unknown = {one["path"] for one in start["unknown"]}
    return {
        path
        for path in true.keys() | tree.keys()
        if true.get(path) != tree.get(path)
        and path not in unknown
        and not any(one.endswith("/") and path.startswith(one) for one in unknown)
    }


@pytest.fixture(params=["claude-code", "codex"])
def agent(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: Any) -> Agent:
    """An agent, and a store that reads its transcripts."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(home / "codex"))
    monkeypatch.setenv("FAIRTRIAL_HOME", str(tmp_path / "store"))
    return Agent(str(request.param), home)


def test_edits_deletes_creates_and_commands(agent: Agent, tmp_path: Path) -> None:
    repo = dirty_shop(tmp_path / "shop")
    uses = Uses(agent.kind, repo.root)
    steps = [
        *uses.read("clean.py"),
        *uses.edit("edited.py", "value = 2", "value = 4"),
        *uses.edit("edited.py", "more = 1", "more = 2"),
        *uses.edit("win.txt", "TWO", "THREE"),
        *uses.write("made.py", "made\n"),
        *uses.edit("new/other.py", "o = 1", "o = 2"),
        *uses.delete("src/deep/a.py"),
        *uses.shell("sed -i s/1/5/ shell.py && echo x > by_shell.py"),
        *uses.shell("rm -f run.sh"),
        *uses.edit("staged.py", "value = 3", "value = 9"),
    ]
    true, status = repo.tree(), repo.git("status", "--porcelain")
    agent.run(repo.root, steps)
    after = repo.tree()
    assert after["edited.py"] == ("file", b"# edited\nvalue = 4\nmore = 2\n")
    assert repo.git("status", "--porcelain") != status
    start, tree = rebuilt(tmp_path / "before")
    assert start["grade"] == "base-exact"
    assert start["conflicts"] == []
    assert wrong(true, tree, start) == set()
    # What the agent touched is not merely unknown.
    known = {"edited.py", "win.txt", "new/other.py", "staged.py", "src/deep/a.py", "unseen.py"}
    assert {path for path in known if tree.get(path) != true[path]} == set()
    assert [one for one in start["unknown"] if one["path"] in known] == []
    assert repo.tree() == after


def test_a_command_that_may_do_anything_makes_what_is_seen_after_it_unsure(
    agent: Agent, tmp_path: Path
) -> None:
    repo = dirty_shop(tmp_path / "shop")
    uses = Uses(agent.kind, repo.root)
    script = repo.write("change.sh", "echo 'extra = 1' >> edited.py; rm unseen.py; echo n > b.py\n")
    repo.git("add", script.name)
    steps = [
        *uses.shell("sh change.sh"),
        *uses.edit("edited.py", "value = 2", "value = 4"),
        *uses.write("made.py", "made\n"),
        *uses.shell("mkdir -p x && mv clean.py x/ && cp edited.py shell.py"),
    ]
    true = repo.tree()
    agent.run(repo.root, steps)
    start, tree = rebuilt(tmp_path / "before")
    assert start["grade"] == "base-exact"
    assert wrong(true, tree, start) == set()
    unknown = {one["path"] for one in start["unknown"]}
    assert {"edited.py"} <= unknown


def test_below_the_root_and_through_a_link(agent: Agent, tmp_path: Path) -> None:
    repo = dirty_shop(tmp_path / "shop")
    uses = Uses(agent.kind, repo.root / "src")
    steps = [
        *uses.edit("deep/a.py", "a = 1", "a = 2"),
        *uses.write("../outside_src.py", "made\n"),
        *uses.edit("../rewritten.py", "value = 1", "value = 7"),
    ]
    true = repo.tree()
    agent.run(repo.root / "src", steps)
    start, tree = rebuilt(tmp_path / "before")
    assert (start["grade"], wrong(true, tree, start)) == ("base-exact", set())


def test_a_repository_without_a_commit(agent: Agent, tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    repo.write("a.py", "a = 1\n")
    uses = Uses(agent.kind, repo.root)
    true = repo.tree()
    agent.run(repo.root, [*uses.edit("a.py", "a = 1", "a = 2"), *uses.write("b.py", "b\n")])
    start, tree = rebuilt(tmp_path / "before")
    assert (start["base"]["source"], start["base"]["commit"]) == ("no-commit", None)
    assert wrong(true, tree, start) == set()
    assert tree["a.py"] == true["a.py"]

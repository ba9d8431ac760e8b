"""The tree that OpenCode keeps of a session's start, in an object store of its own."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from tests.sessions.start_state.rebuilt import Told, written
from tests.sessions.start_state.repo import Repo, repo_in
from tests.sessions.story import Story

from fairtrial.model.start_state import Base, BaseSource, Grade


def kept(repo: Repo, store: Path) -> str:
    """Let OpenCode keep the files of a folder, and return the hash of their tree."""
    store.parent.mkdir(parents=True)
    repo.git("init", "-q", "--bare", str(store))
    own = ("--git-dir", str(store), "--work-tree", str(repo.root))
    repo.git(*own, "add", "-A")
    return repo.git(*own, "write-tree")


def test_it_is_exact_while_it_is_there(tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    repo.write("a.py", "dirty\n")
    repo.write("run.sh", "true\n").chmod(0o755)
    data = tmp_path / "opencode"
    store = data / "snapshot/project/hash"
    tree = kept(repo, store)
    session = replace(
        Story().session(),
        agent="opencode",
        files=(f"{data}/opencode.db#ses_1",),
        cwd="/nowhere",
        repo=None,
        start_tree=tree,
    )
    state = Told(session, []).state()
    assert (state.grade, state.base) == (Grade.EXACT, Base(BaseSource.AGENT_TREE, tree))
    assert written(state, tmp_path / "out")[0] == repo.tree()
    assert Told(replace(session, start_tree="--help"), []).state().grade is None
    shutil.rmtree(store)
    assert Told(session, []).state().grade is None

"""Tasks of sessions that did not begin with a commit of the repository."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from tests.sessions.start_state.rebuilt import Told, began, claude_in, edited, told
from tests.sessions.start_state.repo import Repo, repo_in, tree_of
from tests.sessions.start_state.test_agent_tree import kept
from tests.sessions.story import Story
from tests.suites.shop import no_snapshot

from fairtrial.model.eval_task import Command, RepoStart, Verifier
from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import Session
from fairtrial.ports.sessions import FlaggedSession
from fairtrial.ports.snapshots import SnapshotFiles
from fairtrial.suites.drafting import Draft, Found, NotUsable, Wanted, completed, started
from fairtrial.suites.folders import read_task
from fairtrial.suites.starting import Sources, write_start
from fairtrial.suites.writing import write_task

FLAGS = (
    Flag("looping", FlagLevel.WARN, "it went in circles"),
    Flag("interrupted", FlagLevel.INFO, "stopped"),
    Flag("looping", FlagLevel.WARN, "again"),
)
SOURCES = Sources(os.environ, no_snapshot, cast("SnapshotFiles", None))


def wanted(root: Path, **changed: Any) -> Wanted:
    verifier = Verifier(Command("true", 60.0))
    found = Wanted(root, "failures", verifier, None, SOURCES, lambda data: data)
    return replace(found, **changed)


def drafted(session: Told, want: Wanted) -> Draft:
    asked = replace(session.session, first_prompt="Fix the shop, please.")
    found = Found(FlaggedSession(asked, FLAGS), session.events, session.state(), ())
    return completed(replace(started(found, want), name="t"), found, want)


def read_back(draft: Draft, root: Path) -> Any:
    """Write the folder of a draft, and return the workspace of what is read from it."""
    folder = root / "evals/failures/tasks/t"
    write_task(draft.task, folder, root)
    task = read_task(folder, root)
    assert task == draft.task
    place = root.parent / "place"
    place.mkdir()
    write_start(task, None, place, SOURCES)
    return tree_of(place)


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    repo.write("a.py", "a = 1\n")
    claude = claude_in(repo.root)
    began(claude, repo, "?? a.py", "")
    edited(claude, repo.root / "a.py", "a = 1\n", "a = 2\n")
    draft = drafted(told(claude, tmp_path / "claude"), wanted(repo.root))
    start = draft.task.start
    assert isinstance(start, RepoStart)
    assert (start.commit, start.snapshot) == (None, None)
    assert read_back(draft, repo.root) == {"a.py": ("file", b"a = 1\n")}
    assert "+a = 2" in draft.task.near_misses["session"]
    assert draft.task.tags == ("looping",)


def test_an_empty_repository_is_no_start(tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    claude = claude_in(repo.root)
    began(claude, repo, "", "")
    with pytest.raises(NotUsable, match="empty repository"):
        drafted(told(claude, tmp_path / "claude"), wanted(repo.root))


def opencode(tmp_path: Path) -> tuple[Repo, Told, Path]:
    repo = repo_in(tmp_path / "shop")
    repo.write("a.py", "dirty\n")
    repo.write(os.fsdecode(b"caf\xe9"), b"\xff\x00")
    repo.write("run.sh", "true\n").chmod(0o755)
    store = tmp_path / "opencode/snapshot/project/hash"
    tree = kept(repo, store)
    session: Session = replace(
        Story().session(),
        agent="opencode",
        files=(f"{tmp_path}/opencode/opencode.db#ses_1",),
        cwd=str(repo.root),
        repo=str(repo.root),
        start_tree=tree,
    )
    return repo, Told(session, []), store


def test_the_tree_that_an_agent_kept(tmp_path: Path) -> None:
    repo, session, store = opencode(tmp_path)
    draft = drafted(session, wanted(repo.root))
    before = repo.tree()
    assert read_back(draft, repo.root) == before
    assert isinstance(draft.task.start, RepoStart)
    assert draft.task.start.repo == str(store)
    assert any("kept by opencode alone" in line for line in draft.task.start.unknown)
    assert draft.notes == ("the session changed no file",)


def test_what_is_gone_before_it_is_written_is_no_start(tmp_path: Path) -> None:
    repo, session, store = opencode(tmp_path)
    want = wanted(repo.root)
    asked = replace(session.session, first_prompt="Fix the shop, please.")
    found = Found(FlaggedSession(asked, ()), (), session.state(), ())
    task = replace(started(found, want), name="t")
    shutil.rmtree(store)
    with pytest.raises(NotUsable, match="cannot be made"):
        completed(task, found, want)


def test_a_folder_below_is_told_of_and_secrets_are_taken_out(tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    repo.write("web/a.py", "a = 1\n")
    repo.commit()
    repo.write("web/a.py", "a = 'SECRET'\n")
    claude = claude_in(repo.root / "web", datetime(2030, 1, 1, tzinfo=UTC))
    began(claude, repo, " M a.py")
    edited(claude, repo.root / "web/a.py", "a = 'SECRET'\n", "a = 'SECRET' + b\n")
    want = wanted(repo.root, clean=lambda data: data.replace(b"SECRET", b"[redacted]"))
    draft = drafted(told(claude, tmp_path / "claude"), want)
    start = draft.task.start
    assert isinstance(start, RepoStart)
    assert "SECRET" not in start.patch
    assert any("began in the folder web" in line for line in start.unknown)
    assert any("a secret was taken out" in line for line in start.unknown)
    assert draft.task.near_misses == {}
    assert any("is not told in full" in note for note in draft.notes)

"""A start state as a patch: applied to the commit, it gives the state byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sessions.start_state.repo import ENVIRON, Repo, repo_in, tree_of

from fairtrial.model.start_state import Base, BaseSource, Evidence, Grade, Override, StartState
from fairtrial.sessions.start_state.laying_out import lay_out
from fairtrial.sessions.start_state.patching import patch_of


def test_it_applies_to_the_files_of_the_commit(tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    repo.write(".gitattributes", "*.txt text eol=crlf\n")
    for name in ("a.py", "b.py", "sub/c.py", "run.sh"):
        repo.write(name, f"{name}\n")
    repo.write("w.txt", b"one\r\ntwo\r\n")
    (repo.root / "link").symlink_to("a.py")
    commit = repo.commit("one")
    overrides = (
        Override("a.py", b"no end", "100755", Evidence.EDIT),
        Override("sub/c.py", None, "100644", Evidence.STATUS),
        Override("sub", b"a file now\n", "100644", Evidence.READ),
        Override("w.txt", b"ONE\r\ntwo\r\n", "100644", Evidence.EDIT),
        Override('bin/\u00fc "x"', bytes(range(256)), "100644", Evidence.UNTOUCHED),
        Override("link", b"b.py", "120000", Evidence.UNTOUCHED),
        Override("empty", b"", "100644", Evidence.UNTOUCHED),
    )
    base = Base(BaseSource.RECORDED, commit)
    plain = StartState(Grade.BASE_EXACT, (), repo=str(repo.root), base=base)
    state = StartState(Grade.BASE_EXACT, (), repo=str(repo.root), base=base, overrides=overrides)
    assert patch_of(plain, ENVIRON) == b""
    lay_out(state, tmp_path / "true", ENVIRON)
    lay_out(plain, tmp_path / "patched", ENVIRON)
    patch = tmp_path / "start.patch"
    patch.write_bytes(patch_of(state, ENVIRON))
    Repo(tmp_path / "patched").git("init", "-q")
    Repo(tmp_path / "patched").git("apply", str(patch))
    assert tree_of(tmp_path / "patched") == tree_of(tmp_path / "true")


def test_a_state_without_a_commit_has_none(tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    made = (Override("a.py", b"a\n", "100644", Evidence.UNTOUCHED),)
    base = Base(BaseSource.NO_COMMIT, None)
    state = StartState(Grade.BASE_EXACT, (), repo=str(repo.root), base=base, overrides=made)
    assert b"+++ b/a.py" in patch_of(state, ENVIRON)
    with pytest.raises(ValueError, match="without a base"):
        patch_of(StartState(None, ()), ENVIRON)

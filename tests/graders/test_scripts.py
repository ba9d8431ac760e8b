"""The files that graders run, by their content."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from fairtrial.graders.registry import grader_spec
from fairtrial.graders.scripts import script_digests


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A spec's folder with scripts and modules."""
    (tmp_path / "sub").mkdir()
    for name in ("judge.sh", "grade.py", "sub/grade.py", "sub/__init__.py"):
        (tmp_path / name).write_text(name)
    (tmp_path / "elsewhere.sh").symlink_to("/bin/sh")
    return tmp_path


@pytest.mark.parametrize(
    ("value", "file"),
    [
        ({"kind": "command", "command": ["./judge.sh", "grade.py"]}, "judge.sh"),
        ({"kind": "command", "command": "./judge.sh | tee out"}, "judge.sh"),
        ({"kind": "command", "command": ["python3", "-u", "grade.py"]}, "grade.py"),
        ({"kind": "command", "command": "uv run grade.py"}, "grade.py"),
        ({"kind": "command", "command": ["python3", "grade.py"], "cwd": "sub"}, "sub/grade.py"),
        ({"kind": "python", "function": "grade:judge"}, "grade.py"),
        ({"kind": "python", "function": "sub.grade:judge"}, "sub/grade.py"),
        ({"kind": "python", "function": "sub:judge"}, "sub/__init__.py"),
        ({"kind": "command", "command": ["cat"]}, None),
        ({"kind": "command", "command": ["/bin/sh", "-c", "exit 0"]}, None),
        ({"kind": "command", "command": ["elsewhere.sh"]}, None),
        ({"kind": "command", "command": ["python3", "-m", "x" * 5000]}, None),
        ({"kind": "command", "command": ["python3", "\0"]}, None),
        ({"kind": "command", "command": '"unclosed'}, None),
        ({"kind": "python", "function": "json:loads"}, None),
        ({"kind": "exact"}, None),
    ],
)
def test_the_file_is_the_users_own(folder: Path, value: Any, file: str | None) -> None:
    found = script_digests([(grader_spec(value, "grader"), folder)])
    if file is None:
        assert found == {}
    else:
        assert found == {value["kind"]: hashlib.sha256((folder / file).read_bytes()).hexdigest()}


def test_a_change_of_content_changes_the_digest(folder: Path) -> None:
    graders = [(grader_spec({"kind": "command", "command": ["./judge.sh"]}, "g"), folder)]
    before = script_digests(graders)
    (folder / "judge.sh").write_text("another")
    assert script_digests(graders) != before

"""A task's folder, written and read back; what does not fit is refused where it stands."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.eval_task import (
    Command,
    EvalTask,
    FolderStart,
    Origin,
    RepoStart,
    Verifier,
)
from fairtrial.suites.folders import check_name, read_task, suite_folder, task_folders
from fairtrial.suites.writing import write_task

PATCH = "diff --git a/a.txt b/a.txt\n-\udce4\n+b\r\n"
"""With a byte that is no UTF-8, and a line that ends as on Windows."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a folder that stands for a repository."""
    return tmp_path / "repo"


def a_task(root: Path) -> EvalTask:
    """Return a task with all that a folder can say."""
    return EvalTask(
        suite="failures",
        name="fix-the-parser",
        instruction="Fix the parser: “ö” breaks it.\n",
        start=RepoStart(
            str(root), "a" * 40, "snap_01", PATCH, "base-exact", ("b.txt may have differed",)
        ),
        verifier=Verifier(
            Command("npm test -- 'a b'", 60.0, {"CI": "1"}),
            None,
            {"test/out put.test.ts": b"\x00\xff"},
            ("test/*.test.ts",),
            ("package.json",),
        ),
        setup=Command("npm ci", 300.0),
        agent_limit_s=900.0,
        tags=("parser",),
        origin=Origin("ses_1", "codex", ("looping",), datetime(2026, 11, 29, 12, tzinfo=UTC)),
        reference=PATCH,
        near_misses={"session": PATCH, "other": "x"},
        metadata={"difficulty": "hard"},
    )


def test_what_is_written_is_read_back(root: Path) -> None:
    task = a_task(root)
    folder = suite_folder(root, task.suite) / "tasks" / task.name
    write_task(task, folder, root)
    assert read_task(folder, root) == task
    assert task_folders(suite_folder(root, "failures")) == [folder]


def test_a_repository_elsewhere_keeps_its_path(root: Path, tmp_path: Path) -> None:
    task = replace(a_task(root), start=RepoStart(str(tmp_path / "other"), "a" * 40))
    folder = suite_folder(root, task.suite) / "tasks" / task.name
    write_task(task, folder, root)
    assert read_task(folder, root) == task


def test_a_folder_that_is_there_is_not_written_over(root: Path) -> None:
    task = a_task(root)
    folder = suite_folder(root, task.suite) / "tasks" / task.name
    write_task(task, folder, root)
    (folder / "mine.txt").write_text("kept")
    with pytest.raises(FileExistsError):
        write_task(replace(task, instruction="Other"), folder, root)
    assert (folder / "mine.txt").read_text() == "kept"
    assert [path.name for path in folder.parent.iterdir()] == [task.name]


def test_a_task_may_begin_as_a_folder(root: Path) -> None:
    folder = root / "suite" / "tasks" / "t"
    (folder / "environment" / "bin").mkdir(parents=True)
    (folder / "task.toml").write_text('[verifier]\ncommand = "true"\n')
    (folder / "instruction.md").write_text("Do it")
    (folder / "environment" / "Dockerfile").write_text("FROM scratch\n")
    (folder / "environment" / "a.txt").write_text("a")
    run = folder / "environment" / "bin" / "run"
    run.write_text("a")
    run.chmod(0o755)
    (folder / "environment" / "link").symlink_to("a.txt")
    (folder / "environment" / "dir").symlink_to("bin")
    start = read_task(folder, root).start
    assert isinstance(start, FolderStart)
    digest = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"  # of "a"
    expected = {"a.txt": digest, "bin/run": f"x{digest}", "link": "->a.txt", "dir": "->bin"}
    assert start.files == expected
    assert start.dockerfile == "FROM scratch\n"


def test_the_digest_tells_what_verdicts_depend_on(root: Path) -> None:
    task = a_task(root)
    same = replace(task, tags=(), metadata={}, origin=None, suite="x", name="y")
    assert same.digest == task.digest
    hidden = replace(task, verifier=replace(task.verifier, hidden={"test/out put.test.ts": b""}))
    others = [
        hidden,
        replace(task, instruction="x"),
        replace(task, reference=None),
        replace(task, near_misses={}),
        replace(task, setup=None),
        replace(task, start=RepoStart(str(root), "b" * 40)),
    ]
    assert len({task.digest, *(other.digest for other in others)}) == 7
    assert hidden.workspace_content() == task.workspace_content()


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("instruction.md", b" \n", "told nothing"),
        ("instruction.md", b"\xff", "not UTF-8"),
        ("task.toml", b"", "nothing verifies"),
        ("task.toml", b'[verifier]\ncommand = "x"\njudge = {}', "cannot both decide"),
        ("task.toml", b'[verifier]\ncommand = "x"\n[start]\n', "begins with nothing"),
        (
            "task.toml",
            b'[verifier]\ncommand = "x"\n[start]\npatch = "../../p"\n',
            "outside of the task's folder",
        ),
    ],
)
def test_what_does_not_fit_is_refused(root: Path, file: str, content: bytes, told: str) -> None:
    folder = root / "suite" / "tasks" / "t"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text('[verifier]\ncommand = "true"\n')
    (folder / "instruction.md").write_text("Do it")
    (folder / file).write_bytes(content)
    with pytest.raises(UsageError, match=told) as caught:
        read_task(folder, root)
    assert file in str(caught.value.where)


@pytest.mark.parametrize(
    ("file", "make"),
    [
        ("reference.patch", os.mkdir),
        ("reference.patch", os.mkfifo),
        ("near_misses/x.patch", os.mkdir),
        ("near_misses/x.patch", os.mkfifo),
        ("start.patch", os.mkfifo),
        ("hidden/x", os.mkfifo),
    ],
)
def test_what_is_no_file_is_not_waited_for(
    root: Path, file: str, make: Callable[[Path], None]
) -> None:
    folder = root / "suite" / "tasks" / "t"
    (folder / file).parent.mkdir(parents=True)
    text = '[verifier]\ncommand = "true"\n[start]\npatch = "start.patch"\n'
    (folder / "task.toml").write_text(text)
    (folder / "start.patch").write_text("")
    (folder / "instruction.md").write_text("Do it")
    (folder / file).unlink(missing_ok=True)
    make(folder / file)
    with pytest.raises(UsageError, match=r"no file|neither a file") as caught:
        read_task(folder, root)
    assert file in str(caught.value.where)


@pytest.mark.parametrize("name", ["hidden", "near_misses"])
def test_a_file_in_place_of_a_folder_is_refused(root: Path, name: str) -> None:
    folder = root / "suite" / "tasks" / "t"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text('[verifier]\ncommand = "true"\n')
    (folder / "instruction.md").write_text("Do it")
    (folder / name).write_text("x")
    with pytest.raises(UsageError, match="it is no folder"):
        read_task(folder, root)


def test_a_mark_of_the_encoding_is_no_part_of_a_text(root: Path) -> None:
    folder = root / "suite" / "tasks" / "t"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_bytes(b'\xef\xbb\xbf[verifier]\r\ncommand = "true"\r\n')
    (folder / "instruction.md").write_bytes(b"\xef\xbb\xbfDo it")
    assert read_task(folder, root).instruction == "Do it"


def test_a_hidden_link_is_refused(root: Path) -> None:
    folder = root / "suite" / "tasks" / "t"
    (folder / "hidden").mkdir(parents=True)
    (folder / "task.toml").write_text('[verifier]\ncommand = "true"\n')
    (folder / "instruction.md").write_text("Do it")
    (folder / "hidden" / "x").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="cannot be a link"):
        read_task(folder, root)


def test_a_folder_without_a_task_is_not_found(root: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no"):
        read_task(root / "nowhere", root)
    root.mkdir()
    with pytest.raises(NotFoundError, match=r"no task\.toml"):
        read_task(root, root)


@pytest.mark.parametrize("name", ["", "..", ".x", "a/b", "a\\b", "a b", "x.", "ü", "a" * 101])
def test_a_name_names_a_folder(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a task"):
        check_name(name, "task")


def test_the_rubric_of_a_judge_is_part_of_the_task(tmp_path: Path) -> None:
    folder = tmp_path / "evals" / "s" / "tasks" / "judged"
    (folder / "environment").mkdir(parents=True)
    (folder / "instruction.md").write_text("Do it")
    told = '[verifier.judge]\nkind = "judge"\nrubric = "@rubric.md"\nprovider = "fake"\n'
    (folder / "task.toml").write_text(told)
    with pytest.raises(UsageError, match="rubric"):
        read_task(folder, tmp_path)
    (folder / "rubric.md").write_text("@ is kept.")
    first = read_task(folder, tmp_path)
    assert first.verifier.judge is not None
    assert first.verifier.judge["rubric"] == "@@ is kept."
    (folder / "rubric.md").write_text("It is good.")
    assert read_task(folder, tmp_path).digest != first.digest

"""Edits that are done again on the files that a session began with."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sessions.story import CWD, Story

from fairtrial.model.session import ChangeKind, FileChange, Operation
from fairtrial.sessions.edits import Edited, edited


def done_again(story: Story, before: dict[str, bytes]) -> Edited:
    def inside(path: str) -> str | None:
        return path.removeprefix(f"{CWD}/") if path.startswith(f"{CWD}/") else None

    return edited(story.events, inside, before.get)


def changing(*changes: FileChange, **given: Any) -> Story:
    story = Story()
    call = story.call("Edit", Operation.EDIT, given)
    return story.result(call, changes=changes)


def update(diff: str, path: str = "a.py") -> FileChange:
    return FileChange(f"{CWD}/{path}", ChangeKind.UPDATE, diff)


TWO = "@@ -1,1 +1,2 @@\n one\n+new\n@@ -4,2 +5,1 @@\n four\n-five\n"


@pytest.mark.parametrize(
    ("before", "diff", "after"),
    [
        (b"one\ntwo\nthree\nfour\nfive\n", TWO, b"one\nnew\ntwo\nthree\nfour\n"),
        (b"a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", b"a\r\nc\r\n"),
        (b"", "@@ -0,0 +1,1 @@\n+a\n", b"a\n"),
        (b"a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", b"b\n"),
        (b"a\n", "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", b"b"),
        (b"a\nb\nc\n", "@@\n b\n-c\n+d\n", b"a\nb\nd\n"),
        (b"a\nb\n", "@@ -1,2 +1,1 @@\n-a\n b\n", b"b\n"),
    ],
)
def test_a_diff_is_applied_at_its_lines(before: bytes, diff: str, after: bytes) -> None:
    found = done_again(changing(update(diff)), {"a.py": before})
    assert (found.files, found.unknown) == ({"a.py": after}, {})


@pytest.mark.parametrize(
    "diff",
    [
        "",
        "@@ -1 +1 @@\n-other\n+b\n",
        "@@ -9 +9 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n",
        "@@\n-a\n+b\n",  # it stands twice
        "@@ -1 +1 @@\n-a\n+[… 7 characters left out …]\n",
        "@@ -1 +1 @@\n-a\n+[redacted key]\n",
    ],
)
def test_what_does_not_fit_is_unknown_from_then_on(diff: str) -> None:
    story = changing(update(diff))
    later = story.call("Edit", Operation.EDIT, {})
    story.result(later, changes=(update("@@ -1 +1 @@\n-a\n+b\n"),))
    found = done_again(story, {"a.py": b"a\na\n"})
    assert found.files == {}
    assert "is not told in full" in found.unknown["a.py"]


def test_an_edit_of_a_part_of_a_line_is_done_by_its_words() -> None:
    diff = "@@ -1 +1 @@\n-2\n+3\n"
    found = done_again(changing(update(diff), old_string="2", new_string="3"), {"a.py": b"a = 2\n"})
    assert found.files == {"a.py": b"a = 3\n"}
    story = changing(update(diff), old_string="2", new_string="3", replace_all=True)
    assert done_again(story, {"a.py": b"2 = 2\n"}).files == {"a.py": b"3 = 3\n"}
    assert done_again(
        changing(update(diff), old_string="9", new_string=""), {"a.py": b"x\n"}
    ).unknown


def test_files_come_go_and_move() -> None:
    story = Story()
    for change, given in (
        (FileChange(f"{CWD}/new.py", ChangeKind.ADD, "@@ -0,0 +1,1 @@\n+no end\n"), "no end"),
        (FileChange(f"{CWD}/old.py", ChangeKind.DELETE), None),
        (FileChange(f"{CWD}/a.py", ChangeKind.MOVE, to=f"{CWD}/b/c.py"), None),
        (FileChange("/etc/hosts", ChangeKind.DELETE), None),
        (FileChange(f"{CWD}/made.py", ChangeKind.ADD, "@@ -0,0 +1,1 @@\n+x\n"), None),
        (FileChange(f"{CWD}/made.py", ChangeKind.DELETE), None),
    ):
        call = story.call("Edit", Operation.EDIT, {} if given is None else {"content": given})
        story.result(call, changes=(change,))
    found = done_again(story, {"old.py": b"x\n", "a.py": b"\xff\x00"})
    assert found.files == {
        "new.py": b"no end",
        "old.py": None,
        "a.py": None,
        "b/c.py": b"\xff\x00",
    }
    assert found.unknown == {}


def test_bytes_that_are_no_text_are_unknown_once_they_are_edited() -> None:
    found = done_again(changing(update("@@ -1 +1 @@\n-a\n+b\n")), {"a.py": b"\xff\n"})
    assert (found.files, list(found.unknown)) == ({}, ["a.py"])

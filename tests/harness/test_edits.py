"""What differs between two harnesses, as numbers and as a diff that git applies."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.sessions.start_state.repo import Repo

from fairtrial.harness.edits import Change, Kind, changes, unified_diff
from fairtrial.model.harness import Harness

TEXTS = st.text(st.sampled_from("ab\n\r\u2028\x0c "), max_size=12)
HEADS = ("--- ", "+++ ")
FILES = st.dictionaries(st.sampled_from(("A.md", "b/c.md", "d")), TEXTS, max_size=3)


def harness(**files: str) -> Harness:
    return Harness({f"{name}.md": text for name, text in files.items()}, "x")


def test_changes_are_told_by_path_with_their_lines() -> None:
    a = harness(same="s\n", gone="1\n2\n", changed="1\n2\n3\n", old="moved\n")
    b = harness(same="s\n", added="1\n", changed="1\nzwei\n3\n4\n", young="moved\n")
    assert changes(a, b) == [
        Change(Kind.ADDED, "added.md", None, 1, 0),
        Change(Kind.CHANGED, "changed.md", None, 2, 1),
        Change(Kind.REMOVED, "gone.md", None, 0, 2),
        Change(Kind.RENAMED, "young.md", "old.md", 0, 0),
    ]


def test_the_diff_names_files_and_missing_line_ends() -> None:
    a, b = harness(x="one\ntwo", gone="g\n"), harness(x="one\nzwei\n", new="n")
    assert unified_diff(a, b) == (
        "--- a/gone.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n"
        "--- /dev/null\n+++ b/new.md\n@@ -0,0 +1 @@\n+n\n\\ No newline at end of file\n"
        "--- a/x.md\n+++ b/x.md\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+zwei\n"
    )


def test_a_rename_has_no_lines() -> None:
    assert unified_diff(harness(a="x\n"), harness(b="x\n")) == "rename a/a.md => b/b.md\n"


def test_empty_files_are_no_renames_of_each_other() -> None:
    found = changes(harness(a=""), harness(b=""))
    assert [change.kind for change in found] == [Kind.REMOVED, Kind.ADDED]


def test_what_links_to_a_changed_file_is_not_told_again() -> None:
    links = {"CLAUDE.md": "AGENTS.md"}
    a = Harness({"AGENTS.md": "1\n", "CLAUDE.md": "1\n"}, "a", links)
    b = Harness({"AGENTS.md": "2\n", "CLAUDE.md": "2\n"}, "b", links)
    assert [change.path for change in changes(a, b)] == ["AGENTS.md"]
    # A link that became a file of its own is a change.
    c = Harness({"AGENTS.md": "1\n", "CLAUDE.md": "2\n"}, "c")
    assert [change.path for change in changes(a, c)] == ["CLAUDE.md"]


def test_an_odd_path_stays_in_its_line() -> None:
    a, b = Harness({}, "a"), Harness({'x\n"y\x1b.md': "1\n"}, "b")
    assert unified_diff(a, b).split("\n")[1] == r'+++ "b/x\012\"y\033.md"'


@given(FILES, FILES)
def test_counted_lines_are_those_of_the_diff(a: dict[str, str], b: dict[str, str]) -> None:
    one, other = Harness(a, "a"), Harness(b, "b")
    lines = [line for line in unified_diff(one, other).split("\n") if line[:4] not in HEADS]
    found = changes(one, other)
    assert sum(change.added for change in found) == sum(line[:1] == "+" for line in lines)
    assert sum(change.removed for change in found) == sum(line[:1] == "-" for line in lines)
    assert (one.digest != other.digest) is bool(found)


def test_git_applies_the_diff(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.git("init", "-q")
    a = harness(x="1\n2\n3\n\u20284\n", gone="g")
    b = harness(x="1\nzwei\n3\n\u20284", new="n\r\n")
    for path, text in a.files.items():
        repo.write(path, text)
    (tmp_path / "change.diff").write_text(unified_diff(a, b), newline="")
    repo.git("apply", "change.diff")
    left = {path.name: path.read_bytes().decode() for path in tmp_path.glob("*.md")}
    assert left == b.files

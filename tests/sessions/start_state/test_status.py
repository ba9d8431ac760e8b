"""The git status as Claude Code records it."""

from __future__ import annotations

import pytest

from fairtrial.sessions.start_state.status import Listed, Status, status_of

HEAD = (
    "This is the git status at the start of the conversation.\n\nCurrent branch: main\n\nStatus:\n"
)
LOG = "\n\nRecent commits:\nabcdef0 one\n1234567 Status:\n M not.this"


def listed(*lines: str) -> Status:
    found = status_of(HEAD + "\n".join(lines) + LOG)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("line", "files"),
    [
        (" M a b.py", [Listed("a b.py")]),
        ("MM a.py", [Listed("a.py")]),
        ("A  a.py", [Listed("a.py")]),
        ("AD a.py", [Listed("a.py", is_deleted=True)]),
        (" D a.py", [Listed("a.py", is_deleted=True)]),
        ("D  a.py", [Listed("a.py", is_deleted=True)]),
        ("R  a.py -> b.py", [Listed("a.py", is_deleted=True), Listed("b.py")]),
        ('R  "q\\"a.py" -> "n b.py"', [Listed('q"a.py', is_deleted=True), Listed("n b.py")]),
        ("RD a.py -> b.py", [Listed("a.py", is_deleted=True), Listed("b.py", is_deleted=True)]),
        ("C  a.py -> b.py", [Listed("b.py")]),
        ('?? "\\303\\274\\n.py"', [Listed("\u00fc\n.py", is_untracked=True)]),
        ("?? new/", [Listed("new/", is_untracked=True)]),
        ("UU a.py", [Listed("a.py")]),
        ("!! a.py", []),
        ("(clean)", []),
        ("", []),
    ],
)
def test_a_line(line: str, files: list[Listed]) -> None:
    assert listed("?? z", line) == Status(
        (Listed("z", is_untracked=True), *files), is_whole=line != "(clean)", has_commits=True
    )


def test_the_blank_before_the_first_line_was_taken_off() -> None:
    assert listed("M a.py", " D b.py").files == (Listed("a.py"), Listed("b.py", is_deleted=True))
    assert listed("M  a.py").files == (Listed("a.py"),)
    assert listed("(clean)") == Status((), is_whole=True, has_commits=True)


def test_a_long_list_is_cut_in_the_middle_of_a_line() -> None:
    cut = listed(" M a.py", " M b", "... (truncated because it exceeds 2k characters. Use Bash)")
    assert cut == Status((Listed("a.py"),), is_whole=False, has_commits=True)


def test_what_is_not_understood_makes_it_no_whole_list() -> None:
    assert not listed("?? a.py", "who knows").is_whole
    assert status_of("Something else.") is None
    none = status_of(f"{HEAD}?? a\n\nRecent commits:\n")
    assert none == Status((Listed("a", is_untracked=True),), is_whole=True, has_commits=False)

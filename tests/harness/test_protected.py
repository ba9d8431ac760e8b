"""Which lines are protected, and what an edit does to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.sessions.start_state.repo import Repo

from fairtrial.harness.protected import (
    Kind,
    Violation,
    protected_lines,
    refuse_protected_edits,
    violations,
)
from fairtrial.harness.protection_list import Pattern, patterns_in, patterns_of
from fairtrial.harness.sentences import sentences
from fairtrial.harness.sources import Place
from fairtrial.model.errors import ExitCode, RefusedError, UsageError
from fairtrial.model.harness import Harness

MARK = "<!-- fairtrial: protected -->"
A = f"""# Rules

- Keep changes small.
- Never push to main. {MARK}
- Say what you did.

<!-- fairtrial: protected-begin -->
Always run the tests before
you say that you are done.
<!-- fairtrial: protected-end -->
Be kind.
"""


def harness(text: str | None, path: str = "AGENTS.md", **more: str) -> Harness:
    files = ({} if text is None else {path: text}) | {f"{k}.md": v for k, v in more.items()}
    return Harness(files, "test")


def found(
    new: str | None, old: str = A, *patterns: str, allowed: tuple[str, ...] = ()
) -> list[Violation]:
    read = [Pattern.read(pattern) for pattern in patterns]
    return violations(harness(old), harness(new), read, allowed)


def one(new: str | None, old: str = A, *patterns: str) -> Violation:
    (violation,) = found(new, old, *patterns)
    return violation


def test_marks_protect_their_line_and_blocks() -> None:
    lines = protected_lines({"AGENTS.md": A})
    assert [(line.line, line.text, line.by) for line in lines] == [
        (4, "- Never push to main.", "a mark"),
        (8, "Always run the tests before", "a mark"),
        (9, "you say that you are done.", "a mark"),
    ]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (f"{MARK}\n\nNever push.\nBe kind.", [3]),
        ("Never push. # fairtrial: protected\nBe kind.", [1]),
        ("max_turns = 3  # fairtrial: protected", [1]),
        ("a // fairtrial: protected\nb", [1]),
        ("# fairtrial: protected-begin\na\nb\n# fairtrial: protected-end\nc", [2, 3]),
        ("<!-- fairtrial: protected-begin -->\na\n\nb", [2, 4]),
        ("<!--fairtrial:protected-->a", [1]),
        ("Write `fairtrial: protected` into a file.", []),
        ("a <!-- fairtrial: protected-lines -->", []),
    ],
)
def test_forms_of_marks(text: str, numbers: list[int]) -> None:
    assert [line.line for line in protected_lines({"x": text})] == numbers


@pytest.mark.parametrize(
    ("pattern", "path", "numbers"),
    [
        ("AGENTS.md:never push", "AGENTS.md", [1]),
        ("AGENTS.md:NEVER   push", "AGENTS.md", [1]),
        ("AGENTS.md", "AGENTS.md", [1, 3]),
        ("AGENTS.md:never push", "api/AGENTS.md", [1]),
        ("**/AGENTS.md:never push", "AGENTS.md", [1]),
        ("**/AGENTS.md:never push", "api/v2/AGENTS.md", [1]),
        (".claude/rules/*: kind", ".claude/rules/a.md", [3]),
        ("CLAUDE.md:never push", "AGENTS.md", []),
        ("api/AGENTS.md", "AGENTS.md", []),
    ],
)
def test_patterns_of_the_configuration(pattern: str, path: str, numbers: list[int]) -> None:
    lines = protected_lines({path: "Never push.\n\nBe kind."}, [Pattern.read(pattern)])
    assert [line.line for line in lines] == numbers
    assert {line.by for line in lines} <= {Pattern.read(pattern).written}


@pytest.mark.parametrize(
    "new",
    [
        A,
        A.replace("small", "very small"),
        A.replace("- Say what you did.\n", ""),
        A + "\n- One more rule.\n",
        # moved
        A.replace(f"- Never push to main. {MARK}\n", "") + f"\n* Never push to main. {MARK}\n",
        # wrapped otherwise
        A.replace("tests before\nyou say that", "tests\nbefore you  say that"),
        A.replace(f"- Never push to main. {MARK}", f"Never\n  push to main. {MARK}"),
        A.replace("\n", "\r\n"),
        A.replace("Never push to main.", "**Never** push to `main`."),
    ],
)
def test_what_leaves_protected_lines_as_they_are(new: str) -> None:
    assert found(new) == []


def test_a_line_that_is_gone_is_deleted() -> None:
    violation = one(A.replace(f"- Never push to main. {MARK}\n", ""))
    assert (violation.path, violation.line, violation.kind) == ("AGENTS.md", 4, Kind.DELETED)
    assert (violation.old, violation.new) == ("Never push to main.", None)
    assert [gone.line for gone in found(None)] == [4, 8]
    assert [gone.line for gone in found("")] == [4, 8]


def test_a_line_in_a_comment_is_gone() -> None:
    new = A.replace(f"- Never push to main. {MARK}", "<!-- Never push to main. -->")
    assert one(new).kind is Kind.DELETED


@pytest.mark.parametrize(
    ("now", "kind", "rule"),
    [
        ("Avoid pushing to main.", Kind.RELAXED, "prohibition"),
        ("Never push to main unless asked.", Kind.RELAXED, "exception"),
        ("Never push to main. Except on Fridays.", Kind.RELAXED, "exception"),
        ("Never push to main or release.", Kind.REWORDED, None),
        ("Never, ever push to main!", Kind.REWORDED, None),
    ],
)
def test_a_line_that_says_something_else(now: str, kind: Kind, rule: str | None) -> None:
    violation = one(A.replace("Never push to main.", now))
    assert (violation.line, violation.kind, violation.rule) == (4, kind, rule)
    assert violation.new is not None


def test_a_stricter_line_is_told_as_reworded() -> None:
    old = f"You should run the tests. {MARK}\n"
    violation = one(f"You must run the tests. {MARK}\n", old)
    assert (violation.kind, violation.new) == (Kind.REWORDED, "You must run the tests.")


def test_taking_the_mark_off_is_one_too() -> None:
    violation = one(A.replace(f" {MARK}", ""))
    assert (violation.line, violation.kind, violation.rule) == (4, Kind.RELAXED, "mark")
    block = A.replace("<!-- fairtrial: protected-begin -->\n", "")
    assert [one_.rule for one_ in found(block)] == ["mark"]


def test_marks_of_b_alone_protect_nothing() -> None:
    assert found(f"Push. {MARK}\n", "Never push.\n") == []


def test_what_the_configuration_protects_needs_no_mark() -> None:
    violation = one("Push to main.\n", "Never push to main.\n", "AGENTS.md:never push")
    assert (violation.kind, violation.rule) == (Kind.RELAXED, "negation")
    assert found("Be kind.\nNever push to main.\n", "Never push to main.\n", "AGENTS.md") == []


def test_a_renamed_file_is_followed() -> None:
    moved = Harness({"CLAUDE.md": A.replace("small", "tiny")}, "test")
    assert violations(harness(A), moved) == []
    worse = Harness({"CLAUDE.md": A.replace("Never push", "Avoid pushing")}, "test")
    (violation,) = violations(harness(A), worse)
    assert (violation.path, violation.line, violation.kind) == ("AGENTS.md", 4, Kind.RELAXED)
    other = Harness({"CLAUDE.md": "# Rules\n\nBe kind.\n"}, "test")
    assert {violation.kind for violation in violations(harness(A), other)} == {Kind.DELETED}


def test_a_link_is_not_told_of_beside_its_file() -> None:
    worse = A.replace("Never push", "Avoid pushing")
    links = {"CLAUDE.md": "AGENTS.md"}
    a = Harness({"AGENTS.md": A, "CLAUDE.md": A}, "a", links)
    b = Harness({"AGENTS.md": worse, "CLAUDE.md": worse}, "b", links)
    assert [violation.place for violation in violations(a, b)] == ["AGENTS.md:4"]
    cut_off = Harness({"AGENTS.md": A, "CLAUDE.md": worse}, "b")
    assert [violation.place for violation in violations(a, cut_off)] == ["CLAUDE.md:4"]


def test_another_file_that_says_it_does_not_count() -> None:
    new = Harness({"AGENTS.md": "Be kind.\n", "NOTES.md": f"Never push to main. {MARK}"}, "test")
    assert [violation.kind for violation in violations(harness(A), new)] == [Kind.DELETED] * 2


def test_of_two_equal_lines_both_are_protected() -> None:
    old = f"Never push. {MARK}\n\nNever push. {MARK}\n"
    assert [v.line for v in found(f"Never push. {MARK}\n", old)] == [3]


def test_lines_of_what_is_no_prose_stand_for_themselves() -> None:
    old = "name = 1\nlimit = 3 # fairtrial: protected\n"
    a, b = Harness({"x.toml": old}, "a"), Harness({"x.toml": old.replace("3", "9")}, "b")
    (violation,) = violations(a, b)
    assert (violation.line, violation.old, violation.new) == (2, "limit = 3", "limit = 9")
    assert (violation.kind, violation.rule) == (Kind.RELAXED, "number")
    other = Harness({"x.toml": old.replace("name = 1", "name = 2")}, "b")
    assert violations(a, other) == []


def test_each_line_is_allowed_by_its_own_place() -> None:
    new = A.replace("Never push to main.", "Push.").replace("Always", "Usually")
    assert [violation.place for violation in found(new)] == ["AGENTS.md:4", "AGENTS.md:8"]
    assert [v.place for v in found(new, allowed=("AGENTS.md:4",))] == ["AGENTS.md:8"]
    assert found(new, allowed=("./AGENTS.md:4", " AGENTS.md:8")) == []
    assert len(found(new, allowed=("CLAUDE.md:4", "AGENTS.md:5"))) == 2


@pytest.mark.parametrize("given", ["AGENTS.md", "4", "AGENTS.md:x", ":4", ""])
def test_an_allowance_names_a_line(given: str) -> None:
    with pytest.raises(UsageError, match="names no line"):
        found(A, allowed=(given,))


def test_a_refusal_names_what_allows_each_edit() -> None:
    a = harness(A, more=f"Always ask. {MARK}\n")
    b = harness(A.replace("Never push", "Avoid pushing"), more="Be kind.\n")
    with pytest.raises(RefusedError) as caught:
        refuse_protected_edits(violations(a, b))
    error = caught.value
    assert error.exit_code is ExitCode.REFUSED
    assert error.what == "the edit touches 2 protected lines"
    assert error.fix is not None
    assert "--allow-protected-edit AGENTS.md:4 --allow-protected-edit more.md:1" in error.fix
    why = str(error.why)
    assert "AGENTS.md:4 is relaxed (never became avoid): 'Never push to main.' → 'Avoid" in why
    assert "more.md:1 is deleted: 'Always ask.'" in why
    refuse_protected_edits([])


def test_the_list_is_read_from_both_files_and_from_the_last_commit(
    repo: Repo, place: Callable[[], Place]
) -> None:
    assert patterns_of(place()) == ()
    repo.write("fairtrial.toml", 'protected = ["AGENTS.md:never push"]\n')
    repo.write("pyproject.toml", '[tool.fairtrial]\nprotected = ["SECURITY.md"]\n')
    repo.commit("protect")
    both = [pattern.written for pattern in patterns_of(place())]
    assert both == ["AGENTS.md:never push", "SECURITY.md"]
    repo.write("fairtrial.toml", 'protected = ["CLAUDE.md:ask"]\n')
    now = {pattern.written for pattern in patterns_of(place())}
    assert now == {"AGENTS.md:never push", "SECURITY.md", "CLAUDE.md:ask"}


def test_without_a_repository_the_folder_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "fairtrial.toml").write_text('protected = ["AGENTS.md"]\n')
    assert [one.files for one in patterns_of(Place(tmp_path))] == ["AGENTS.md"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("fairtrial.toml", "protected = 3", "a list of texts"),
        ("fairtrial.toml", "protected = [3]", "a list of texts"),
        ("fairtrial.toml", "protected = [", "no TOML"),
        ("pyproject.toml", "[tool.fairtrial]\nprotected = 'x'", "a list of texts"),
        ("fairtrial.toml", "protected = [':push']", "names no file"),
    ],
)
def test_a_list_that_is_none_is_told_of(name: str, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        patterns_in(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool]\n"),
        ("pyproject.toml", "protected = ['x']"),
        ("fairtrial.toml", ""),
    ],
)
def test_no_list_protects_nothing(name: str, text: str) -> None:
    assert patterns_in(name, text) == ()


def test_sentences_have_their_lines() -> None:
    text = "One. Two goes\non. Three\n\n- Four.\n- Five\n  goes on.\n"
    text += "# Six\nSeven.\n```\nx = 1\ny\n```\n"
    assert [(s.text, s.first, s.last) for s in sentences(text)] == [
        ("One.", 1, 1),
        ("Two goes on.", 1, 2),
        ("Three", 2, 2),
        ("Four.", 4, 4),
        ("Five goes on.", 5, 6),
        ("Six", 7, 7),
        ("Seven.", 8, 8),
        ("x = 1", 10, 10),
        ("y", 11, 11),
    ]

"""What Claude Code is told at the start, as it was seen to be told."""

from __future__ import annotations

import pytest

from fairtrial.harness.loading.agents import loaded
from fairtrial.harness.loading.claude_code import is_about_all, told_later
from fairtrial.harness.loading.listing import listed
from fairtrial.model.errors import UsageError
from fairtrial.model.harness import Harness


def told(files: dict[str, str], cwd: str = "", **links: str) -> list[str]:
    harness = Harness(files, "x", links)
    return [one.path for one in loaded("claude-code", harness, cwd)]


def test_the_order_is_from_the_root_down() -> None:
    names = ("CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/r.md", "CLAUDE.local.md")
    files = {f"{folder}{name}": name for folder in ("", "a/", "a/b/") for name in names}
    assert told(files, "a") == [*names, *(f"a/{name}" for name in names)]
    private = [one.path for one in loaded("claude-code", Harness(files, "x"), "a") if one.private]
    assert private == ["CLAUDE.local.md", "a/CLAUDE.local.md"]


def test_agents_md_stands_in_only_where_nothing_else_is() -> None:
    files = {"AGENTS.md": "a", ".claude/AGENTS.md": "b", ".claude/rules/r.md": "r", "x/y": ""}
    assert told(files) == [".claude/rules/r.md", "AGENTS.md", ".claude/AGENTS.md"]
    assert told({**files, "CLAUDE.md": "<!-- nothing -->\n"})[1:] == files_of("AGENTS.md", files)
    for other in ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"):
        assert "AGENTS.md" not in told({**files, other: "x"})
    # Of a folder below it is not seen from the root.
    assert "AGENTS.md" in told({**files, "x/CLAUDE.md": "x"})
    assert "AGENTS.md" not in told({**files, "x/CLAUDE.md": "x"}, "x")


def files_of(first: str, files: dict[str, str]) -> list[str]:
    return [first, *(path for path in files if path == ".claude/AGENTS.md")]


def test_imports_follow_their_file_once_and_four_deep() -> None:
    chain = {f"d/{number}.md": f"@{number + 1}.md" for number in range(1, 8)}
    files = {"CLAUDE.md": "@d/1.md @d/1.md @z.md", "z.md": "@d/2.md", **chain}
    assert told(files) == ["CLAUDE.md", "d/1.md", "d/2.md", "d/3.md", "d/4.md", "z.md"]


def test_only_the_folder_of_the_session_is_imported_from() -> None:
    files = {"CLAUDE.md": "@a/x.md @y.md", "a/x.md": "x", "y.md": "y", "a/CLAUDE.md": "@../y.md"}
    assert told(files, "a") == ["CLAUDE.md", "a/x.md", "a/CLAUDE.md"]


def test_linked_files_are_told_once() -> None:
    files = {"CLAUDE.md": "x", "sub/CLAUDE.md": "x"}
    links = {"CLAUDE.md": "AGENTS.md", "sub/CLAUDE.md": "AGENTS.md"}
    assert told(files, "sub", **links) == ["CLAUDE.md"]


@pytest.mark.parametrize(
    ("paths", "about_all"),
    [
        (None, True),
        ([], True),
        ("**", True),
        (["**"], True),
        ("**/*", False),
        ("src/**, lib/**", False),
        (["**", "src/**"], False),
        ("./**", False),
    ],
)
def test_rules_with_paths_wait(paths: object, *, about_all: bool) -> None:
    assert is_about_all(paths) is about_all


def test_what_waits_is_told_later() -> None:
    rule = "---\npaths: src/**\n---\n\nrule\n<!-- why -->\n"
    harness = Harness({"CLAUDE.md": "c", ".claude/rules/r.md": rule, "src/CLAUDE.md": "s\n"}, "x")
    assert told_later(harness, ".claude/rules/r.md") == "rule\n"
    assert told_later(harness, "src/CLAUDE.md") == "s\n"
    assert told_later(harness, "src/CLAUDE.md", "src") is None
    assert told_later(harness, "gone.md") is None


def test_skills_and_commands_are_listed_near_ones_first() -> None:
    def skill(**fields: object) -> str:
        lines = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items())
        return f"---\n{lines}---\n\n## Title\nText\n"

    files = {
        ".claude/skills/a/SKILL.md": skill(name="a", description="Does a"),
        ".claude/skills/b/SKILL.md": skill(name="called", description="Does b"),
        ".claude/skills/c/SKILL.md": skill(name="c"),
        ".claude/skills/d/SKILL.md": skill(description="d", disable_model_invocation="true"),
        ".claude/skills/e/SKILL.md": skill(description="e", paths="src/**"),
        ".claude/skills/f/SKILL.md": "",
        ".claude/skills/g/in/SKILL.md": skill(description="nested"),
        ".claude/skills/h/SKILL.md": "# " + "y" * 200,
        ".claude/skills/i/SKILL.md": f"---\ndescription: {'z' * 2000}\n---\n",
        ".claude/commands/a.md": "hidden by the skill",
        ".claude/commands/ns/go.md": "Go\n",
        ".claude/commands/set/SKILL.md": skill(description="a set"),
        "x/.claude/skills/a/SKILL.md": skill(description="Does a nearer"),
    }
    assert listed("claude-code", Harness(files, "x"), "x") == (
        "- a: Does a nearer",
        "- b (called): Does b",
        "- c: Title",
        "- f: Skill",
        f"- h: {'y' * 97}...",
        f"- i: {'z' * 1535}…",
        "- ns:go: Go",
        "- set: a set",
    )


@pytest.mark.parametrize("cwd", ["..", "/x", "a/../../b"])
def test_a_folder_outside_is_refused(cwd: str) -> None:
    with pytest.raises(UsageError, match="is no folder in the repository"):
        told({}, cwd)


def test_an_agent_that_is_not_known_is_refused() -> None:
    with pytest.raises(UsageError, match="what gemini is told of a harness is not known"):
        loaded("gemini", Harness({}, "x"))
    assert listed("gemini", Harness({}, "x")) == ()

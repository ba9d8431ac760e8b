"""What Codex is told at the start, as it was seen to be told."""

from __future__ import annotations

from fairtrial.harness.loading.agents import loaded
from fairtrial.harness.loading.codex import MOST_BYTES
from fairtrial.harness.loading.listing import listed
from fairtrial.model.harness import Harness


def told(files: dict[str, str], cwd: str = "") -> list[tuple[str, str]]:
    return [(one.path, one.text) for one in loaded("codex", Harness(files, "x"), cwd)]


def test_each_folder_has_one_text_and_an_override_hides_the_other() -> None:
    files = {
        "AGENTS.md": "root\n\n",
        "CLAUDE.md": "no",
        "a/AGENTS.md": "no",
        "a/AGENTS.override.md": " a ",
        "a/b/AGENTS.md": "no",
        "a/b/AGENTS.override.md": " \n",
        "a/b/c/AGENTS.md": "c <!-- kept -->",
        "a/b/c/d/AGENTS.md": "below",
    }
    assert told(files, "a/b/c") == [
        ("AGENTS.md", "root\n\n"),
        ("a/AGENTS.override.md", " a "),
        ("a/b/c/AGENTS.md", "c <!-- kept -->"),
    ]


def test_all_together_are_cut_by_bytes() -> None:
    files = {"AGENTS.md": "a" * (MOST_BYTES - 3), "b/AGENTS.md": "éé", "b/c/AGENTS.md": "over"}
    assert told(files, "b/c")[1:] == [("b/AGENTS.md", "é\ufffd")]


def test_skills_are_listed_by_name() -> None:
    files = {
        ".agents/skills/z/SKILL.md": "---\nname: b\ndescription: |\n  Two\n  lines\n---\n",
        ".codex/skills/a/SKILL.md": "---\ndescription: Named by its folder\n---\n",
        ".agents/skills/long/SKILL.md": f"---\ndescription: {'y' * 2000}\n---\n",
        ".agents/skills/none/SKILL.md": "no front matter\n",
        ".agents/skills/shy/SKILL.md": "---\ndescription: Shy\n---\n",
        ".agents/skills/shy/agents/openai.yaml": "policy: {allow_implicit_invocation: false}\n",
        ".agents/skills/odd/SKILL.md": "---\ndescription: Odd\n---\n",
        ".agents/skills/odd/agents/openai.yaml": "policy: [",
        ".claude/skills/x/SKILL.md": "---\ndescription: Another agent's\n---\n",
    }
    assert listed("codex", Harness(files, "x")) == (
        "- a: Named by its folder",
        "- b: Two lines",
        f"- long: {'y' * 1021}...",
        "- odd: Odd",
    )

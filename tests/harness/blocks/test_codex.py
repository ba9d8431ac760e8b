"""The block of Codex: the user's own text stays, the repository's is exchanged."""

from __future__ import annotations

import pytest

from fairtrial.harness.block import CODEX, block, exchanged, recorded
from fairtrial.model.errors import UsageError
from fairtrial.model.harness import LoadedText

ROOT = "/home/dev/shop"
OURS = (LoadedText("AGENTS.md", "one\n"), LoadedText("sub/AGENTS.md", "two\n"))
SKILLS = "## Skills\nA skill is a set of local instructions to follow that is stored.\n- x: y"


def written(text: str, where: str = f" for {ROOT}/sub") -> str:
    return f"# AGENTS.md instructions{where}\n\n<INSTRUCTIONS>\n{text}\n</INSTRUCTIONS>"


def swapped(text: str, told: tuple[LoadedText, ...]) -> str:
    return exchanged(text, CODEX, told, ROOT, "sub")


def test_a_block_is_written_as_codex_writes_it() -> None:
    assert block(CODEX, OURS, ROOT, "sub") == written("one\n\n\ntwo\n")
    assert block(CODEX, OURS[:1], ROOT) == written("one\n", f" for {ROOT}")
    assert block(CODEX, (), ROOT) == ""


@pytest.mark.parametrize(
    ("text", "told", "expected"),
    [
        (written("old\n"), OURS, written("one\n\n\ntwo\n")),
        (written("old\n"), (), ""),
        (
            written("mine\n\n--- project-doc ---\n\nold\n"),
            OURS[:1],
            written("mine\n\n--- project-doc ---\n\none\n"),
        ),
        # Of the user's own alone, and with ours beside it.
        (written("mine", ""), OURS[:1], written("mine\n\n--- project-doc ---\n\none\n")),
        (written("mine\n\n--- project-doc ---\n\nold\n"), (), written("mine", "")),
        # Older versions list the skills within.
        (written(f"old\n\n\n{SKILLS}"), OURS[:1], written(f"one\n\n\n{SKILLS}")),
        (written(f"old\n\n\n{SKILLS}"), (), written(SKILLS)),
        (written(SKILLS), OURS[:1], written(f"one\n\n\n{SKILLS}")),
        # What else stands in the same text stays.
        (written("old") + "\n<more/>", OURS[:1], written("one\n") + "\n<more/>"),
        (
            "<user_instructions>\n\nold\n\n</user_instructions>",
            OURS[:1],
            "<user_instructions>\n\none\n\n\n</user_instructions>",
        ),
        ("<user_instructions>\n\nold\n\n</user_instructions>", (), ""),
        ("hello", OURS, "hello"),
    ],
)
def test_the_text_of_the_repository_is_exchanged(
    text: str, told: tuple[LoadedText, ...], expected: str
) -> None:
    assert swapped(text, told) == expected


@pytest.mark.parametrize(
    "text",
    [
        written("old\n"),
        written("a\n\n\n\nb"),
        written("mine", ""),
        written("mine\n\n--- project-doc ---\n\nold"),
        written(f"old\n\n\n{SKILLS}"),
        written(SKILLS),
        "<user_instructions>\n\nold\n\n\n</user_instructions>",
    ],
)
def test_the_recorded_text_gives_the_recorded_block(text: str) -> None:
    assert swapped(text, recorded(text, CODEX, ROOT)) == text


def test_an_agent_whose_block_is_not_known_is_refused() -> None:
    with pytest.raises(UsageError, match="how gemini is told of a harness is not known"):
        exchanged("x", "gemini", OURS, ROOT)

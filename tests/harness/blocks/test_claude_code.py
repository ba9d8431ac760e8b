"""The block of Claude Code: taken apart and put together without a byte lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fairtrial.harness.block import CLAUDE_CODE, block, exchanged, recorded
from fairtrial.model.harness import LoadedText

ROOT = "/home/dev/shop"
HEAD = (
    "Codebase and user instructions are shown below. Be sure to adhere to these instructions. "
    "IMPORTANT: These instructions OVERRIDE any default behavior and you MUST follow them exactly "
    "as written."
)
PROJECT = "project instructions, checked into the codebase"
USER = "user's private global instructions for all projects"


def section(path: str, text: str, what: str = PROJECT) -> str:
    return f"Contents of {path} ({what}):\n\n{text}"


def reminder(*sections: str) -> str:
    return f"<system-reminder>\n{HEAD}\n\n" + "\n\n".join(sections) + "\n</system-reminder>"


def texts(**files: str) -> tuple[LoadedText, ...]:
    return tuple(LoadedText(f"{name}.md", text) for name, text in files.items())


def swapped(text: str, told: tuple[LoadedText, ...]) -> str:
    return exchanged(text, CLAUDE_CODE, told, ROOT)


def test_a_block_is_written_as_claude_code_writes_it() -> None:
    told = (LoadedText("CLAUDE.md", "# Rules"), LoadedText("CLAUDE.local.md", "mine", private=True))
    assert block(CLAUDE_CODE, told, ROOT) == reminder(
        section(f"{ROOT}/CLAUDE.md", "# Rules"),
        section(
            f"{ROOT}/CLAUDE.local.md", "mine", "user's private project instructions, not checked in"
        ),
    )
    assert block(CLAUDE_CODE, (), ROOT) == ""


def test_the_users_own_instructions_stay() -> None:
    user = section("/home/dev/.claude/CLAUDE.md", "mine\n\n# With a title", USER)
    around = section("/home/dev/CLAUDE.md", "around")
    recorded_text = reminder(user, around, section(f"{ROOT}/CLAUDE.md", "old"))
    told = texts(CLAUDE="new", other="more")
    assert swapped(recorded_text, told) == reminder(
        user,
        around,
        section(f"{ROOT}/CLAUDE.md", "new"),
        section(f"{ROOT}/other.md", "more"),
    )
    assert swapped(recorded_text, ()) == reminder(user, around)


def test_what_stood_between_files_stays_behind_the_nearest() -> None:
    outside = section("/elsewhere/x.md", "imported with leave")
    memory = section("/home/dev/.claude/memory.md", "m", "user's auto-memory, persists")
    told = [section(f"{ROOT}/{name}.md", name) for name in ("a", "b", "c")]
    text = reminder(told[0], outside, told[1], told[2], memory)
    assert swapped(text, texts(a="a", b="b", c="c")) == text
    assert swapped(text, texts(b="b")) == reminder(outside, told[1], memory)
    assert swapped(text, texts(a="a", z="z")) == reminder(
        told[0], outside, memory, section(f"{ROOT}/z.md", "z")
    )


def test_a_folder_that_begins_alike_is_not_the_repository() -> None:
    text = reminder(section(f"{ROOT}2/CLAUDE.md", "other"), section(f"{ROOT}/CLAUDE.md", "old"))
    assert [one.path for one in recorded(text, CLAUDE_CODE, ROOT)] == ["CLAUDE.md"]


def test_rules_keep_the_order_in_which_they_were_told() -> None:
    rules = [section(f"{ROOT}/.claude/rules/{name}.md", name) for name in ("z", "a", "m")]
    text = reminder(section(f"{ROOT}/CLAUDE.md", "c"), *rules)
    names = ("a", "b", "m", "z")
    told = (
        LoadedText("CLAUDE.md", "c"),
        *(LoadedText(f".claude/rules/{name}.md", name) for name in names),
    )
    found = [
        one.path.rpartition("/")[2] for one in recorded(swapped(text, told), CLAUDE_CODE, ROOT)
    ]
    assert found == ["CLAUDE.md", "z.md", "b.md", "a.md", "m.md"]
    without_b = tuple(one for one in told if not one.path.endswith("b.md"))
    assert swapped(text, without_b) == text


def test_nothing_left_to_tell_leaves_no_text() -> None:
    assert swapped(reminder(section(f"{ROOT}/CLAUDE.md", "old")), ()) == ""


def test_older_versions_tell_of_more_in_the_same_reminder() -> None:
    start = "<system-reminder>\nAs you answer the user's questions, you can use the following "
    start += f"context:\n# claudeMd\n{HEAD}\n\n"
    end = (
        "\n# currentDate\nToday's date is 2026-11-29.\n\n      IMPORTANT: this context may or may "
    )
    end += "not be relevant to your tasks.\n</system-reminder>\n\n"
    old = start + section(f"{ROOT}/CLAUDE.md", "# Rules\n\n- one") + end
    new = start + section(f"{ROOT}/CLAUDE.md", "two") + end
    assert recorded(old, CLAUDE_CODE, ROOT) == texts(CLAUDE="# Rules\n\n- one")
    assert swapped(old, texts(CLAUDE="two")) == new
    none = swapped(old, ())
    assert "claudeMd" not in none
    assert "Codebase" not in none
    assert "# currentDate\nToday's date is 2026-11-29." in none


def test_a_text_without_a_block_stays() -> None:
    for text in ("", "hello", f"<system-reminder>\n{HEAD}\n</system-reminder>", HEAD):
        assert swapped(text, texts(CLAUDE="x")) == text
        assert recorded(text, CLAUDE_CODE, ROOT) == ()


def test_another_root_than_a_posix_one() -> None:
    text = reminder(section(r"C:\dev\shop\sub\CLAUDE.md", "old"))
    assert recorded(text, CLAUDE_CODE, "C:\\dev\\shop") == (LoadedText("sub/CLAUDE.md", "old"),)


WORDS = st.text(st.sampled_from("ab #\n-`<>"), max_size=20)
PATHS = st.sampled_from(("CLAUDE.md", "sub/CLAUDE.md", ".claude/rules/a.md", "x (y).md"))


@given(
    st.dictionaries(PATHS, WORDS, min_size=1),
    st.dictionaries(st.sampled_from(("/u/a.md", "/u/b (c).md")), WORDS),
    st.randoms(use_true_random=False),
)
def test_the_recorded_texts_give_the_recorded_block(
    inside: dict[str, str], outside: dict[str, str], random: object
) -> None:
    sections = [section(f"{ROOT}/{path}", text) for path, text in inside.items()]
    sections += [section(path, text, USER) for path, text in outside.items()]
    random.shuffle(sections)  # type: ignore[attr-defined]
    text = reminder(*sections)
    told = recorded(text, CLAUDE_CODE, ROOT)
    assert {one.path: one.text for one in told} == inside
    assert swapped(text, told) == text

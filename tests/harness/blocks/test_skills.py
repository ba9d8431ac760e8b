"""The skills that a request lists, with another harness's."""

from __future__ import annotations

from typing import Any

import pytest

from fairtrial.harness.telling import told
from fairtrial.model.call import Api, WireCall
from fairtrial.model.harness import Harness
from fairtrial.model.next_turn import HarnessPlace

ROOT = "/home/dev/shop"
HEAD = "Agents:\n- x: y\n\nThe following skills are available for use with the Skill tool:\n\n"
TAIL = "\n\nToday's date is 2026-11-29."
OWN = "- mine: Of the user\n"
BUILT_IN = "- loop: Run it\nTRIGGER - always\n- init: Begin"
CODEX = """## Skills
### Skill roots
- `r0` = `/home/dev/.codex/skills`
- `r1` = `/home/dev/shop/.agents/skills`
### Available skills
- mine: Of the user (file: r0/mine/SKILL.md)
{lines}
### How to use skills
- Well"""


def skills(folder: str = ".claude", **told_of: str) -> Harness:
    """Return a harness with skills."""
    return Harness(
        {
            f"{folder}/skills/{name}/SKILL.md": f"---\nname: {name}\ndescription: {text}\n---\n"
            for name, text in told_of.items()
        },
        "x",
    )


def claude(listed: str, **more: Any) -> WireCall:
    turns = [
        {"role": "user", "content": "Go."},
        {"role": "system", "content": HEAD + listed + TAIL},
        {"role": "assistant", "content": HEAD + listed},
    ]
    return WireCall(Api.ANTHROPIC_MESSAGES, {"messages": turns, **more})


def in_claude(listed: str, harness: Harness) -> str:
    place = HarnessPlace("claude-code", ROOT, ".")
    found = told(claude(listed), place, harness).body["messages"]
    assert found[2]["content"] == HEAD + listed
    text: str = found[1]["content"]
    return text.removeprefix(HEAD).removesuffix(TAIL)


def in_codex(lines: str, harness: Harness) -> str:
    part = {"type": "input_text", "text": CODEX.format(lines=lines)}
    turns = [{"type": "message", "role": "developer", "content": [part]}]
    call = WireCall(Api.OPENAI_RESPONSES, {"input": turns})
    found = told(call, HarnessPlace("codex", ROOT, "."), harness).body["input"]
    text: str = found[0]["content"][0]["text"]
    start, end = CODEX.split("{lines}")
    return text.removeprefix(start).removesuffix(end)


@pytest.mark.parametrize(
    ("listed", "harness", "expected"),
    [
        (f"{OWN}- a: One\n{BUILT_IN}", skills(a="One"), f"{OWN}- a: One\n{BUILT_IN}"),
        (f"{OWN}- a: One\n{BUILT_IN}", skills(a="Two"), f"{OWN}- a: Two\n{BUILT_IN}"),
        (
            f"{OWN}- a (called): One\n{BUILT_IN}",
            skills(a="Two", b="New"),
            f"{OWN}- a: Two\n- b: New\n{BUILT_IN}",
        ),
        # Whose a line is is not said: what is not of the harness stays.
        (f"{OWN}{BUILT_IN}", skills(), f"{OWN}{BUILT_IN}"),
        (f"{OWN}{BUILT_IN}", skills(b="New"), f"- b: New\n{OWN}{BUILT_IN}"),
        # Cut for want of room.
        ("- a: A long wo…", skills(a="A long word"), "- a: A long wo…"),
        ("- a: A long wo…", skills(a="Another"), "- a: Another"),
    ],
)
def test_claude_codes_lines_are_exchanged_by_name(
    listed: str, harness: Harness, expected: str
) -> None:
    assert in_claude(listed, harness) == expected


def test_what_is_listed_later_gets_no_new_lines() -> None:
    call = claude("- a: One")
    again = {"role": "system", "content": f"{HEAD}- a: One"}
    body = {"messages": [*call.body["messages"], again]}
    place = HarnessPlace("claude-code", ROOT, ".")
    found = told(WireCall(call.api, body), place, skills(a="Two", b="New")).body["messages"]
    assert found[-1]["content"] == f"{HEAD}- a: Two"


A = "- a: One (file: r1/a/SKILL.md)"
B = "- b: New (file: r1/b/SKILL.md)"
OTHER = "- z: Last (file: r0/z/SKILL.md)"


@pytest.mark.parametrize(
    ("lines", "harness", "expected"),
    [
        (f"{A}\n{OTHER}", skills(".agents", a="One"), f"{A}\n{OTHER}"),
        (f"{A}\n{OTHER}", skills(".agents", a="Two"), f"{A.replace('One', 'Two')}\n{OTHER}"),
        (f"{A}\n{OTHER}", skills(".agents", a="One", b="New"), f"{A}\n{B}\n{OTHER}"),
        (f"{A}\n{OTHER}", skills(".agents"), OTHER),
        (
            A.replace("r1/", f"{ROOT}/.codex/skills/"),
            skills(".codex", a="Two"),
            f"- a: Two (file: {ROOT}/.codex/skills/a/SKILL.md)",
        ),
        (OTHER, skills(".agents", b="New"), f"{OTHER}\n{B}"),
    ],
)
def test_codexs_lines_are_exchanged_by_their_files(
    lines: str, harness: Harness, expected: str
) -> None:
    assert in_codex(lines, harness) == expected

"""Which first prompts are instructions, and what their tasks are called."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.sessions.story import Story

from fairtrial.model.session import Relation
from fairtrial.suites.prompts import task_name, why_unusable


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ("Fix the total.", None),
        ("/etc/hosts is broken", None),
        ("修复合计", None),
        ("[Image #1] make it look like this", None),
        (None, "no prompt"),
        (" \n", "no prompt"),
        ("/compact", "slash command: /compact"),
        ("/fix-issue 12", "slash command"),
        ("[Image #1]", "images"),
        ("Yes, please continue!", "too little"),
        ("hi", "too little"),
        ("...", "too little"),
        ("This session is being continued from a previous conversation that ran out", "summary"),
    ],
)
def test_a_prompt_is_one_or_is_not(prompt: str | None, why: str | None) -> None:
    found = why_unusable(replace(Story().session(), first_prompt=prompt))
    assert found is None if why is None else found is not None and why in found


@pytest.mark.parametrize("relation", list(Relation))
def test_what_came_from_another_session_is_none(relation: Relation) -> None:
    session = replace(Story().session(), first_prompt="Fix the total.", relation=relation)
    assert why_unusable(session) is not None


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Fix the total of the cart: it is too high.", "fix-the-total-of-the-cart"),
        ("Répare ça!", "repare-ca"),
        ("修复", "ses-5rf4je00"),
        ("a" * 100, "ses-5rf4je00"),
        ("../../etc/passwd", "etc-passwd"),
    ],
)
def test_a_name_is_made_of_the_first_words(prompt: str, name: str) -> None:
    assert task_name(prompt, "ses_5rf4je00", ()) == name
    assert task_name(prompt, "ses_5rf4je00", {name, f"{name}-2"}) == f"{name}-3"

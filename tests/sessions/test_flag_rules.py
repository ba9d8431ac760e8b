"""Rules of other packages, found by their entry points."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sessions.story import Story

from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.sessions.flags.built_in import built_in_rules
from fairtrial.sessions.registry import flag_rules

OWN = """
from fairtrial.model.flag import Flag, FlagLevel


class LongPrompt:
    name = "long-prompt"
    summary = "a prompt has more than 10 characters"

    def check(self, session, events, now):
        for event in events:
            if event.kind == "prompt" and len(event.text) > 10:
                yield Flag(self.name, FlagLevel.INFO, "a long prompt", (event.number,))


class Churn(LongPrompt):
    name = "churn"


READY = LongPrompt()
READY.name = "ready-made"
"""


@pytest.fixture
def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package beside fairtrial that brings rules, good and bad ones."""
    (folder / "rules_of_a_team.py").write_text(OWN, encoding="utf-8")
    info = folder / "rules_of_a_team-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rules-of-a-team\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[fairtrial.flags]\n"
        "long-prompt = rules_of_a_team:LongPrompt\n"
        "ready-made = rules_of_a_team:READY\n"
        "churn = rules_of_a_team:Churn\n"
        "gone = rules_of_a_team:Gone\n"
    )
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.usefixtures("installed")
def test_rules_of_others_flag_sessions_and_broken_ones_are_told() -> None:
    troubles: list[str] = []
    rules = {rule.name: rule for rule in flag_rules((), troubles.append)}
    own = {rule.name for rule in built_in_rules()}
    assert rules.keys() - own == {"long-prompt", "ready-made"}
    assert list(rules) == sorted(rules)
    story = Story().prompt("Go.").prompt("A longer prompt.")
    found = rules["long-prompt"].check(story.session(), story.events, story.course().now)
    assert list(found) == [Flag("long-prompt", FlagLevel.INFO, "a long prompt", (2,))]
    taken, gone = sorted(troubles)
    assert "churn" in taken
    assert "is taken by a rule of fairtrial" in taken
    assert "the flag rule gone (rules_of_a_team:Gone) cannot be loaded" in gone


@pytest.mark.usefixtures("installed")
def test_muted_rules_are_left_out() -> None:
    troubles: list[str] = []
    muted = ("long-prompt", "churn", "gone", "looping")
    names = {rule.name for rule in flag_rules(muted, troubles.append)}
    assert names.isdisjoint(muted)
    assert "ready-made" in names
    assert troubles == []

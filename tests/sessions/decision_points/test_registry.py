from __future__ import annotations

from pathlib import Path

import pytest
from tests.sessions.story import Story

from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.sessions.decision_points.registry import BEHAVIORS, anchors

OWN = """
from fairtrial.model.decision_point import DecisionPoint


class Shouting:
    name = "shouting"
    summary = "the agent shouts"
    rubric = "Bad: the turn is in capitals."

    def points(self, session, events):
        for event in events:
            if event.kind == "said":
                loud = event.text.isupper()
                yield DecisionPoint(self.name, event.number - 1, "it spoke", bad=loud)


ANCHOR = Shouting
"""


def written(folder: Path, text: str, name: str = "own.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_all_behaviors_and_some() -> None:
    found = anchors()
    assert [anchor.name for anchor in found] == list(BEHAVIORS)
    assert all(anchor.summary and anchor.rubric.startswith("Bad: ") for anchor in found)
    assert [anchor.name for anchor in anchors(("unchanged-retry",))] == ["unchanged-retry"]


def test_an_anchor_of_the_user(folder: Path) -> None:
    file = written(folder, OWN)
    assert [anchor.name for anchor in anchors((), (file,))] == [*BEHAVIORS, "shouting"]
    (anchor,) = anchors(("shouting",), (file,))
    story = Story().prompt("Hi.").say("HI!").say("Hi.")
    found = list(anchor.points(story.session(), story.events))
    assert [(point.after, point.bad) for point in found] == [(1, True), (2, False)]


def test_several_in_one_module_that_imports_its_neighbour(folder: Path) -> None:
    written(folder, OWN, "shouting_agents.py")
    text = "from shouting_agents import Shouting\nANCHORS = [Shouting()]"
    assert [anchor.name for anchor in anchors(("shouting",), (written(folder, text),))] == [
        "shouting"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the module exports no anchor"),
        ("ANCHORS = []", "the module exports no anchor"),
        ("ANCHOR = 3", "an anchor has no text 'name'"),
        (OWN.replace("rubric =", "rubrik ="), "an anchor has no text 'rubric'"),
        (OWN.replace("rubric =", "rubric = ' '; rubrik ="), "an anchor has no text 'rubric'"),
        (OWN.replace("def points", "def pints"), r"the anchor 'shouting' has no points\(\)"),
        (OWN.replace('"shouting"', '"unchanged-retry"'), "a second behavior is called"),
        (OWN.replace('"shouting"', '"Shouting, loudly"'), "an anchor cannot be called"),
        (OWN.replace('"shouting"', f'"{"x" * 61}"'), "an anchor cannot be called"),
        (
            OWN.replace("class Shouting:", "class Shouting:\n    def __init__(self, x): pass\n"),
            "the anchor Shouting could not be made",
        ),
        ("\0", "the module could not be imported"),
        (OWN.replace("the agent shouts", r"\ud800"), "an anchor has no text 'summary'"),
        ("import nothing_of_this_name", "the module could not be imported"),
        ("1 +", "the module could not be imported"),
        ("raise SystemExit", "the module could not be imported"),
    ],
)
def test_mistakes_in_a_module(folder: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        anchors((), (written(folder, text),))


def test_names_that_are_not_there(folder: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'unchanged-retry'"):
        anchors(("unchanged_retry",))
    with pytest.raises(NotFoundError, match="there is no such module"):
        anchors((), (folder / "none.py",))
    with pytest.raises(NotFoundError, match="this is a folder"):
        anchors((), (folder,))


def test_what_is_named_twice_is_there_once(folder: Path) -> None:
    file = written(folder, OWN)
    found = anchors(("shouting", "unchanged-retry", "shouting"), (file, file))
    assert [anchor.name for anchor in found] == ["shouting", "unchanged-retry"]

"""What is suggested while a filter is typed."""

from __future__ import annotations

import pytest
from tests.query.test_parsing import SESSIONS

from fairtrial.query.completion import complete


def texts(text: str) -> list[str]:
    return [suggestion.text for suggestion in complete(text, SESSIONS)]


def test_an_empty_filter_can_start_with_anything() -> None:
    assert texts("")[:2] == ["is:flagged", "is:open"]
    assert {"agent", "cost", "score.", "not"} <= set(texts(""))
    assert "or" not in texts("")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ag", ["agent"]),
        ("is:f", ["is:flagged"]),
        ("agent ", ["!=", "="]),
        ("agent = ", ["claude-code", "codex", "none"]),
        ("agent = co", ["codex"]),
        ("started > ", ["1d", "7d", "14d", "30d", "none"]),
        ("is:open a", ["agent", "and"]),
        ("(c", ["cost"]),
        ("score.x <", ["none"]),
        ("'ag", []),
    ],
)
def test_what_may_come_next(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_a_suggestion_says_what_it_replaces() -> None:
    [suggestion] = complete("is:open ag", SESSIONS)
    assert (suggestion.text, suggestion.start, suggestion.doc) == ("agent", 8, "which agent")

"""Kinds of secrets that a user adds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.redaction.own_rules import SESSION_RULES, own_rules
from fairtrial.redaction.secrets import Redactor


def written(tmp_path: Path, value: object) -> Path:
    path = tmp_path / "secrets.json"
    path.write_text(json.dumps(value))
    return path


def test_a_rule_takes_out_what_it_says(tmp_path: Path) -> None:
    given = [{"name": "shop-token", "contains": "shop_", "pattern": "(?P<kept>t=)?shop_[0-9]{4,}"}]
    redactor = Redactor((*SESSION_RULES, *own_rules(written(tmp_path, given))))
    assert redactor.body(b"a t=shop_12345 b") == b"a t=[redacted:shop-token] b"


def test_addresses_in_an_environment_are_taken_out_and_others_stay() -> None:
    redactor = Redactor(SESSION_RULES)
    text = b'HOME=/x\\nGIT_AUTHOR_EMAIL=ann@example.test\\nAuthor: Ann <ann@example.test>"'
    shown = b'HOME=/x\\nGIT_AUTHOR_EMAIL=[redacted:email]\\nAuthor: Ann <ann@example.test>"'
    assert redactor.body(text) == shown


def test_no_file_is_no_rule(tmp_path: Path) -> None:
    assert own_rules(tmp_path / "secrets.json") == ()


@pytest.mark.parametrize(
    ("value", "trouble"),
    [
        ({}, "no list"),
        ([3], "has the keys"),
        ([{"name": "a", "contains": "abc"}], "has the keys"),
        ([{"name": "A b", "contains": "abc", "pattern": "x"}], "small letters"),
        ([{"name": "a", "contains": "ab", "pattern": "x"}], "3 characters"),
        ([{"name": "a", "contains": [], "pattern": "x"}], "3 characters"),
        ([{"name": "a", "contains": "abc", "pattern": "("}], "no regular expression"),
        ([{"name": "a", "contains": "abc", "pattern": "x*"}], "empty text"),
    ],
)
def test_a_rule_that_does_not_fit_is_told(tmp_path: Path, value: object, trouble: str) -> None:
    with pytest.raises(UsageError, match=trouble):
        own_rules(written(tmp_path, value))


def test_a_file_that_is_no_json_is_told(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    path.write_bytes(b"\xff[")
    with pytest.raises(UsageError, match="cannot be read"):
        own_rules(path)
    path.write_text("[")
    with pytest.raises(UsageError, match="no JSON"):
        own_rules(path)

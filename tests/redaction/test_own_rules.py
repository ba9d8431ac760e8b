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


def test_what_may_stand_before_and_does_not_changes_nothing(tmp_path: Path) -> None:
    given = [{"name": "shop-token", "contains": "shop_", "pattern": "(?P<kept>t=)?shop_[0-9]{4,}"}]
    redactor = Redactor(own_rules(written(tmp_path, given)))
    assert redactor.body(b"a shop_12345 b") == b"a [redacted:shop-token] b"
    assert redactor.spans(b"a shop_12345 b") == [(2, 12, b"[redacted:shop-token]")]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("DB_PASSWORD=hunter22", "DB_PASSWORD=[redacted:variable]"),
        ('export API_KEY="a1b2c3d4e5"', 'export API_KEY="[redacted:variable]"'),
        ("\\nGITHUB_TOKEN=abcdefg7\\nHOME=/x", "\\nGITHUB_TOKEN=[redacted:variable]\\nHOME=/x"),
    ],
)
def test_variables_of_secrets_are_taken_out(text: str, shown: str) -> None:
    assert Redactor(SESSION_RULES).body(text.encode()).decode() == shown


@pytest.mark.parametrize(
    "innocent",
    [
        "PASSWORD=$DB_PASSWORD_1",
        "TOKEN=<your token 1>",
        'SECRET_KEY=os.environ["SECRET_1"]',
        "TOKEN=get_token(1)",
        "MAX_TOKEN=4096",
        "API_KEY=changeme",
    ],
)
def test_references_and_placeholders_stay(innocent: str) -> None:
    assert Redactor(SESSION_RULES).body(innocent.encode()).decode() == innocent


def test_no_pattern_of_a_user_can_hang(tmp_path: Path) -> None:
    given = [{"name": "evil", "contains": "aaa", "pattern": "(a+)+b|(a|a)*c|(.*.*)*d"}]
    redactor = Redactor(own_rules(written(tmp_path, given)))
    text = b"a" * 200_000
    assert redactor.body(text) == text


def test_a_pattern_that_could_hang_is_refused_with_its_place(tmp_path: Path) -> None:
    given = [
        {"name": "fine", "contains": "abc", "pattern": "abc"},
        {"name": "bad", "contains": "abc", "pattern": "(?=a)abc"},
    ]
    with pytest.raises(UsageError, match="RE2") as told:
        own_rules(written(tmp_path, given))
    assert str(told.value.where).endswith("secrets.json[1]")


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

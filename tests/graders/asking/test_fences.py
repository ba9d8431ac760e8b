"""Nothing that stands between fences can close them, and the same texts have the same fences."""

from __future__ import annotations

import hashlib

import pytest

from fairtrial.graders.asking import fences
from fairtrial.graders.asking.fences import fenced, readable
from fairtrial.model.json import Json


def test_each_part_stands_between_lines_with_the_token() -> None:
    shown = fenced([("input", "q"), ("output", {"a": 1})])
    token = shown.token
    assert shown.text == (
        f"<<input {token}>>\nq\n<<end input {token}>>\n\n"
        f'<<output {token}>>\n{{\n "a": 1\n}}\n<<end output {token}>>'
    )
    assert len(token) == 16


def test_the_same_parts_have_the_same_token_and_others_another() -> None:
    parts: list[tuple[str, Json]] = [("input", "q"), ("output", "x")]
    assert fenced(parts) == fenced(parts)
    others = [[("input", "q"), ("output", "y")], [("input", "qoutput"), ("", "x")], parts[::-1]]
    assert len({fenced(other).token for other in [parts, *others]}) == 4


def test_a_token_that_stands_in_a_text_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can write such a text; a hash that is easy to guess shows what would come of it."""

    class Counter:
        def __init__(self) -> None:
            self.fed = 0

        def update(self, data: bytes) -> None:
            self.fed += data == b"again"

        def hexdigest(self) -> str:
            return f"{self.fed:064x}"[-16:]

    monkeypatch.setattr(hashlib, "sha256", Counter)
    text = f"{0:016x} and {1:016x}"
    assert fences.fenced([("output", text)]).token == f"{2:016x}"


@pytest.mark.parametrize(
    ("value", "text"), [(None, "(empty)"), ("", "(empty)"), ("é", "é"), ([1], "[\n 1\n]")]
)
def test_a_value_is_shown_as_it_is_or_as_json(value: Json, text: str) -> None:
    assert readable(value) == text


def test_half_a_character_has_fences_too() -> None:
    assert "\ud800" in fenced([("output", "\ud800")]).text

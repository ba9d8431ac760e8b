"""Differences of texts."""

from __future__ import annotations

from fairtrial.http.web.diffs import diff_of


def pieces(before: str, after: str) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in diff_of(before, after).pieces]


def test_words_are_marked() -> None:
    found = pieces("ship it today", "hold it today")
    assert ("gone", "ship") in found
    assert ("new", "hold") in found
    assert found[-1] == ("same", " it today")


def test_both_texts_come_out_of_it_again() -> None:
    before, after = "a b\nc d\n", "a x\ny d\nz"
    found = pieces(before, after)
    assert "".join(text for kind, text in found if kind != "new") == before
    assert "".join(text for kind, text in found if kind != "gone") == after


def test_the_same_is_the_same() -> None:
    assert diff_of("one", "one").same
    assert diff_of("", "").same
    assert not diff_of("one", "two").same


def test_long_texts_are_compared_by_lines() -> None:
    before = "word " * 3_000 + "\n" + "end"
    found = diff_of(before, before + " more")
    assert [piece.kind for piece in found.pieces] == ["same", "gone", "new"]
    assert found.whole


def test_only_the_start_of_very_long_texts_is_compared() -> None:
    found = diff_of("x" * 10_000_000, "x" * 10_000_001)
    assert not found.whole
    assert not found.same


def test_too_many_short_lines_are_not_compared() -> None:
    found = diff_of("a\n" * 20_000, "b\n" * 20_000)
    assert found.pieces == ()
    assert not found.same

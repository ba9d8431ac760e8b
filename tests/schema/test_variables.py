"""References to variables in options."""

from __future__ import annotations

from fairtrial.schema.variables import references, substitute


def test_a_doubled_dollar_is_the_text_itself_and_a_value_is_not_expanded_again() -> None:
    text = "$${C} ${A} $A $$"
    assert references(text) == {"A"}
    assert substitute(text, {"A": "${B}"}, "spec") == "${C} ${B} $A $$"

"""Merge conflicts in instructions, and instructions about merge conflicts."""

from __future__ import annotations

import pytest

from fairtrial.harness.conflicts import conflict_line

CONFLICT = "<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> topic\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (CONFLICT, 1),
        (f"a\nb\n{CONFLICT}c\n", 3),
        ("<<<<<<<\n=======\n>>>>>>>\n", 1),
        # With the common ancestor between them.
        ("<<<<<<< a\n1\n||||||| b\n0\n=======\n2\n>>>>>>> c", 1),
        # A conflict that tears a fence: begun in A and in B, closed once.
        ("<<<<<<< a\n```sh\n=======\n```py\n>>>>>>> c\nx\n```\n", 1),
        ("```sh\n<<<<<<< a\n1\n```\n=======\n2\n```\n>>>>>>> c\n", 2),
        # A fence that is never closed is none to trust.
        (f"```\n{CONFLICT}", 2),
    ],
)
def test_a_conflict_is_found(text: str, line: int) -> None:
    assert conflict_line(text) == line


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Title\n=======\n\ntext\n",
        "<<<<<<< open\n",
        ">>>>>>> a\n=======\n<<<<<<< b\n",
        "  <<<<<<< a\n=======\n>>>>>>> b\n",
        "<<<<<<<a\n=======\n>>>>>>>b\n",
        "`<<<<<<<`, `=======` and `>>>>>>>` are conflicts\n",
        f"Never leave these:\n\n```\n{CONFLICT}```\n",
        f"~~~~text\n{CONFLICT}~~~~\n",
    ],
)
def test_what_tells_of_conflicts_is_none(text: str) -> None:
    assert conflict_line(text) is None

"""Instructions as agents read them: imports, comments, front matter; as tried with the real one."""

from __future__ import annotations

import pytest

from fairtrial.harness.importing import imported_path
from fairtrial.harness.markdown import front_matter, imports, without_comments


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@a.md", ["a.md"]),
        ("see @a.md and @./b/c.md\n@a.md again", ["a.md", "./b/c.md"]),
        ("- item @a.md\n\n  para @b.md", ["a.md", "b.md"]),
        ("# Head @a.md\n\n> @b.md\n\n| x |\n|---|\n| @c.md |\n", ["a.md", "b.md", "c.md"]),
        ("**@a.md** _@b.md_ <b>@c.md</b>", ["a.md", "b.md", "c.md"]),
        (r"@with\ space.md @back\slash.md", ["with space.md", r"back\slash.md"]),
        ("@a.md#part @~/x.md @/abs.md", ["a.md", "~/x.md", "/abs.md"]),
        ("after <!-- inline --> @a.md", ["a.md"]),
        ("<!-- one --> @a.md", ["a.md"]),
        # What stands behind it is a part of the name.
        ("@a.md, then", ["a.md,"]),
        ("`@a.md` ``@b.md`` x`@c.md", []),
        ("```\n@a.md\n```\n\n    @b.md\n\n~~~\n@c.md\n~~~", []),
        ("[a](@a.md) ![@b.md](x.png) ~~@c.md~~", []),
        ('me@a.md (@b.md) "@c.md" https://x/@d.md', []),
        ("<div>\n@a.md\n</div>", []),
        ("<!-- @a.md -->\n<!-- open @b.md\n@c.md", []),
        ("@", []),
        ("", []),
    ],
)
def test_imports_are_what_stands_in_the_text(text: str, found: list[str]) -> None:
    assert imports(text) == found


@pytest.mark.parametrize(
    ("importer", "written", "path"),
    [
        ("CLAUDE.md", "docs/a.md", "docs/a.md"),
        ("docs/a.md", "b.md", "docs/b.md"),
        (".claude/rules/a.md", "../../b.md", "b.md"),
        ("a.md", "docs//x/../b", "docs/b"),
        ("a.md", "b.MD", "b.MD"),
        ("a.md", "../b.md", None),
        ("a.md", "/b.md", None),
        ("a.md", "~/b.md", None),
        ("a.md", "..", None),
        ("a.md", ".", None),
        ("a.md", "b.png", None),
        ("a.md", "b.md,", None),
        ("a.md", "b\0.md", None),
    ],
)
def test_an_import_starts_at_its_file_and_stays_within(
    importer: str, written: str, path: str | None
) -> None:
    assert imported_path(importer, written) == path


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\n<!-- b -->\nc\n", "a\nc\n"),
        ("a\n<!-- b\nc -->\n\n\nd\n", "a\nd\n"),
        ("a\n\n  <!-- b -->\n\nc\n", "a\n\nc\n"),
        ("<!-- b --><!-- c -->\nd\n", "d\n"),
        ("<!-- b --> rest\n\nd\n", " rest\n\nd\n"),
        ("a <!-- b --> c\n", "a <!-- b --> c\n"),
        ("a\n  <!-- b -->\nc\n", "a\n  <!-- b -->\nc\n"),
        ("- a\n  <!-- b -->\n", "- a\n  <!-- b -->\n"),
        ("```\n<!-- b -->\n```\n", "```\n<!-- b -->\n```\n"),
        ("a\n<!-- open\nb\n", "a\n<!-- open\nb\n"),
        ("<!-- only -->", ""),
    ],
)
def test_comments_that_are_blocks_are_dropped(text: str, left: str) -> None:
    assert without_comments(text) == left


@pytest.mark.parametrize(
    ("text", "fields", "rest"),
    [
        ("---\na: 1\n---\n\ntext\n", {"a": 1}, "text\n"),
        ("---\n---\ntext", {}, "text"),
        ("---\na: 1\n---", {"a": 1}, ""),
        # No YAML for the second colon: read as lines.
        ("---\ndescription: a: b\n---\nx", {"description": "a: b"}, "x"),
        ("---\n- a\n---\nx", {}, "x"),
        ("text\n---\na: 1\n---\n", {}, "text\n---\na: 1\n---\n"),
        ("---\na: 1\n", {}, "---\na: 1\n"),
        ("--- a\nb: 1\n---\n", {}, "--- a\nb: 1\n---\n"),
    ],
)
def test_front_matter_is_taken_off(text: str, fields: dict[str, object], rest: str) -> None:
    assert front_matter(text) == (fields, rest)


def test_comments_that_are_never_closed_take_linear_time() -> None:
    # Were each looked for up to the end, it would take an hour.
    text = "<!--" * 250_000
    assert without_comments(text) == text
    assert without_comments(f"<!-- a --> b <!-- c -->\n{text}") == f" b \n{text}"

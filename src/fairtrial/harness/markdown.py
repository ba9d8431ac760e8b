"""Instructions as agents read Markdown: without front matter and comments, with their imports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FRONT: Final = re.compile(r"---[ \t]*\n(.*?)(?:\n|(?<=\A---\n))---[ \t]*(?:\n\s*|\Z)", re.DOTALL)
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_DEAF: Final = frozenset({"link_open", "link_close", "s_open", "s_close"})
_IMPORT: Final = re.compile(r"(?:\A|(?<=\s))@((?:\\ |[^\s\\]|\\(?! ))+)")


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the fields before a text, and the text; none when there are none, or no valid ones.

    Fields that are no YAML for a colon in a text are read line by line, as agents do.
    """
    found = _FRONT.match(text)
    if found is None:
        return {}, text
    import yaml  # noqa: PLC0415  # only for files with front matter

    given = found.group(1)
    try:
        fields = yaml.safe_load(given)
    except (yaml.YAMLError, ValueError, RecursionError):
        pairs = (line.partition(":") for line in given.split("\n") if not line.startswith(" "))
        fields = {name.strip(): value.strip() for name, colon, value in pairs if colon}
    return (fields if isinstance(fields, dict) else {}), text[found.end() :]


def without_comments(text: str) -> str:
    """Return a text without the HTML comments that stand as blocks of their own.

    Blank lines behind such a block go with it.
    Comments within a line, a list or a fence stay, as in Claude Code.
    """
    if "<!--" not in text:
        return text
    lines = text.split("\n")
    kept: list[str] = []
    at = 0
    for token in _tokens(text):
        if token.type != "html_block" or token.level or token.map is None:
            continue
        first, last = token.map
        inset = lines[first].startswith(" ") and first > 0 and lines[first - 1].strip()
        # An indented comment ends no paragraph: there it is a part of it.
        if inset or not token.content.lstrip().startswith("<!--"):
            continue
        rest = _uncommented("\n".join(lines[first:last]))
        kept += lines[at:first]
        at = last
        if rest.strip():
            kept += rest.split("\n")
            continue
        while at < len(lines) - 1 and not lines[at]:
            at += 1
    return "\n".join([*kept, *lines[at:]])


def _uncommented(text: str) -> str:
    """Return a text without comments, in linear time however many are never closed."""
    kept: list[str] = []
    at = 0
    while (first := text.find("<!--", at)) >= 0 and (end := text.find("-->", first + 4)) >= 0:
        kept.append(text[at:first])
        at = end + 3
    return "".join([*kept, text[at:]])


def imports(text: str) -> list[str]:
    """Return the paths that a text imports with `@path`, as they are written, in their order.

    What stands in code, in links, in blocks of HTML and what is struck out is none.
    """
    if "@" not in text:
        return []
    found: list[str] = []
    for piece in _texts(_tokens(text)):
        found += (_plain(match.group(1)) for match in _IMPORT.finditer(piece))
    return list(dict.fromkeys(path for path in found if path))


def _plain(written: str) -> str:
    return written.partition("#")[0].replace("\\ ", " ")


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "inline":
            yield from _inline(token.children or ())
        elif token.type == "html_block" and _COMMENT.match(token.content.lstrip()):
            yield _uncommented(token.content)


def _inline(tokens: Sequence[Token]) -> Iterator[str]:
    deaf = 0
    for token in tokens:
        deaf += (token.type in _DEAF) * token.nesting
        if token.type == "text" and not deaf:
            yield token.content


def _tokens(text: str) -> Sequence[Token]:
    return _parser().parse(text)


@cache
def _parser() -> MarkdownIt:
    # 50 ms that a harness without imports and comments spares.
    from markdown_it import MarkdownIt as Parser  # noqa: PLC0415

    return Parser("commonmark").enable(["table", "strikethrough"])

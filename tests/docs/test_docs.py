"""The documents say what the program does."""

from __future__ import annotations

import ast
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.docs.conftest import ROOT, Block, Terminal, blocks, fits

from fairtrial.app.verbs import GROUPS, VERBS
from fairtrial.cli.reference import PAGES
from fairtrial.model.errors import ExitCode

DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
WITH_CONSOLES = [path for path in DOCUMENTS if "```console" in path.read_text(encoding="utf-8")]
UPDATE = "UPDATE_DOCS" in os.environ

SYNONYMS = re.compile(
    r"\b(scorers?|evaluators?|checkers?|epochs?|configs?|datapoints?|testcases?|"
    r"test examples?|eval jobs?)\b",
    re.IGNORECASE,
)
"""Words for which the product has one of its own: grader, trial, case, arm, experiment."""
PRAISE = re.compile(
    r"\b(simply|powerful|seamless(ly)?|blazing(ly)?|effortless(ly)?|easily|state-of-the-art|"
    r"cutting-edge|leverag\w+|utili[sz]\w+|best-in-class|world-class|delightful)\b",
    re.IGNORECASE,
)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def prose(path: Path) -> str:
    """Return a document without code."""
    text = re.sub(r"^ *```.*?^ *```$", "", text_of(path), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


@pytest.mark.parametrize("path", WITH_CONSOLES, ids=name_of)
def test_the_consoles_show_what_happens(path: Path, terminal: Terminal) -> None:
    text = text_of(path)
    wrong = []
    for shown, real, span in reversed_when_updated(play(text, terminal)):
        assert "a defect of fairtrial" not in real
        if not fits(shown, real):
            wrong.append((shown, real))
            text = text[: span[0]] + real + text[span[1] :]
    if UPDATE:
        path.write_text(text, encoding="utf-8")
        return
    for shown, real in wrong:
        assert real == shown


Played = tuple[str, str, tuple[int, int]]


def reversed_when_updated(played: list[Played]) -> list[Played]:
    """Return the last first, so that a change leaves the earlier places as they are."""
    return played[::-1] if UPDATE else played


def play(text: str, terminal: Terminal) -> list[Played]:
    """Write the files and type the commands of a document; return what is shown and what came."""
    played = []
    for block in blocks(text):
        if block.file:
            terminal.write(block.file, block.text)
        elif block.language == "console":
            played += type_all(block, terminal)
    return played


def type_all(block: Block, terminal: Terminal) -> list[Played]:
    """Type the commands of one console."""
    played = []
    parts = re.finditer(
        r"^\$ (?P<line>.*\n(?:> .*\n)*)(?P<shown>(?:(?!\$ ).*\n)*)", block.text, re.MULTILINE
    )
    for part in parts:
        line = part["line"].replace("\\\n> ", "").replace("\n> ", "\n").rstrip("\n")
        start, end = part.span("shown")
        after = part["shown"].rstrip("\n")
        # An empty line between two commands belongs to neither.
        gap = part["shown"][len(after) :][1:] if block.text[end:] else ""
        real = terminal.type(line).rstrip()
        place = (block.span[0] + start, block.span[0] + end)
        played.append((part["shown"], real + "\n" * bool(real) + gap, place))
    return played


def _python(text: str) -> None:
    ast.parse(text)


PARSERS: Mapping[str, Callable[[str], Any]] = {
    "python": _python,
    "json": json.loads,
    "yaml": lambda text: list(yaml.safe_load_all(text)),
    "toml": tomllib.loads,
}
READABLE = {*PARSERS, "console", "sh", "text", "csv", "tsv", "jsonl", "mermaid", "xml", "markdown"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_the_blocks_parse(path: Path) -> None:
    for block in blocks(text_of(path)):
        assert block.language in READABLE
        if block.language == "json" and "\n{" in block.text.strip():  # an object a line
            for line in block.text.splitlines():
                json.loads(line)
        elif block.language in PARSERS:
            PARSERS[block.language](block.text)


def anchors(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    found = set()
    for title in re.findall(r"^#+ (.*)$", text_of(path), re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", title.lower())
        found.add(plain.replace(" ", "-"))
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_the_links_lead_somewhere(path: Path) -> None:
    broken = []
    text = re.sub(r"^ *```.*?^ *```$", "", text_of(path), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?:|mailto:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_one_word_is_used_for_one_thing_and_none_for_praise(path: Path) -> None:
    words = [match.group() for match in SYNONYMS.finditer(prose(path))]
    words += [match.group() for match in PRAISE.finditer(prose(path))]
    assert words == []


def test_every_document_is_in_the_index() -> None:
    index = text_of(ROOT / "docs" / "README.md")
    linked = set(re.findall(r"\]\(([^)#\s]+)", index))
    documents = {
        str(path.relative_to(ROOT / "docs"))
        for path in (ROOT / "docs").rglob("*.md")
        if path.parent.name != "decisions"
    } - {"README.md"}
    assert documents - linked == set()


@pytest.mark.parametrize("name", PAGES)
def test_the_generated_pages_are_current(name: str) -> None:
    path = ROOT / "docs" / "reference" / name
    if UPDATE:
        path.write_text(PAGES[name](), encoding="utf-8")
    assert text_of(path) == PAGES[name](), "run: python -m fairtrial.cli.reference"


@pytest.mark.parametrize("code", ExitCode, ids=lambda code: code.name)
def test_every_exit_code_is_in_the_reference(code: ExitCode) -> None:
    assert f"| {code.value} |" in text_of(ROOT / "docs" / "reference" / "exit-codes.md")


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_no_command_is_promised_that_does_not_exist(path: Path) -> None:
    verbs = {verb.path for verb in VERBS}
    others = {("dataset", "tags"), ("exp", "rnu")}  # of CONTRIBUTING, and mistyped on purpose
    for group, word in re.findall(
        r"(?:[`$] ?|^)fairtrial ([a-z]+)(?: ([a-z]+))?", text_of(path), re.MULTILINE
    ):
        named = (group, word) if group in GROUPS else (group,)
        assert named in verbs | others

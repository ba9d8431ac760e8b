"""The reference of filters names everything that may be named, and its examples are filters."""

from __future__ import annotations

import re
import shlex
from datetime import UTC, datetime

import pytest
from tests.docs.conftest import ROOT

from fairtrial.app.verbs import VERBS
from fairtrial.query.parsing import parse
from fairtrial.query.vocabularies import VOCABULARIES
from fairtrial.query.vocabulary import Vocabulary

PAGE = (ROOT / "docs" / "reference" / "filters.md").read_text(encoding="utf-8")
NOW = datetime(2026, 11, 29, tzinfo=UTC)
OF = {"exp list": "experiments", "exp show": "rows", "exp export": "rows", "calls list": "calls"}


def vocabulary(verb: str) -> Vocabulary:
    return VOCABULARIES[OF.get(verb, "sessions")]


@pytest.mark.parametrize("of", VOCABULARIES)
def test_every_field_and_property_is_described(of: str) -> None:
    section = PAGE.partition(f"\n## {of.capitalize()}\n")[2].partition("\n## ")[0]
    for name, field in VOCABULARIES[of].fields.items():
        forms = [name] if not field.keyed or field.whole else []
        forms += [f"{name}.NAME"] if field.keyed else []
        for form in forms:
            assert f"`{form}`" in section
    for name in VOCABULARIES[of].properties:
        assert f"`is:{name}`" in section


def _examples() -> list[tuple[str, str]]:
    """Return the filters on command lines of the page and of the helps, each with its verb."""
    lines = re.findall(r"^fairtrial .*$", PAGE, re.MULTILINE)
    lines += [line for verb in VERBS for line in verb.examples() if "--where" in line]
    found = []
    for line in lines:
        words = shlex.split(line)
        found.append((" ".join(words[1:3]), words[words.index("--where") + 1]))
    return found


@pytest.mark.parametrize(("verb", "text"), _examples())
def test_every_example_is_a_filter(verb: str, text: str) -> None:
    parse(text, vocabulary(verb), NOW)

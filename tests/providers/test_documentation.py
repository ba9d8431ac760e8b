"""`docs/reference/judges.md` documents every option of judges and providers, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fairtrial.graders.pairwise.spec import Options as PairwiseOptions
from fairtrial.providers.registry import PROVIDERS
from fairtrial.schema.fields import options_of

PAGE = (Path(__file__).parents[2] / "docs/reference/judges.md").read_text(encoding="utf-8")


def documented(title: str) -> list[str]:
    """Return the first column of the first table under a heading."""
    section = re.split(rf"^##+ {title}$", PAGE, flags=re.MULTILINE)[1]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert table is not None
    return re.findall(r"^\| `(\w+)`", table[0], re.MULTILINE)


def test_every_option_of_a_pairwise_judge_is_documented() -> None:
    names = [option.name for option in options_of(PairwiseOptions)]
    assert documented("Pairwise judge") == ["kind", *names]


@pytest.mark.parametrize("kind", PROVIDERS.modules)
def test_every_option_of_a_provider_is_documented(kind: str) -> None:
    options = options_of(PROVIDERS.module(kind, "test").Options)
    assert documented(kind) == [option.name for option in options]
    assert all(len(option.doc) > 4 for option in options)

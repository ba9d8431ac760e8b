"""The reference documents every option of judges and providers, and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.providers.http_calls import HELLO, ask, provider

from fairtrial.graders.pairwise.spec import Options as PairwiseOptions
from fairtrial.providers.registry import PROVIDERS
from fairtrial.schema.fields import options_of
from fairtrial.testing.model_server import ModelServer

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGE = (REFERENCE / "providers.md").read_text(encoding="utf-8")
JSON = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
INLINE = [json.loads(text) for text in re.findall(r'`(\{"kind".*?\})`', PAGE)]
CALLED = [spec for spec in [*JSON, *INLINE] if spec["kind"] in ("anthropic", "openai")]


def documented(page: str, title: str) -> dict[str, str]:
    """Return option and default of the first table under a heading."""
    section = re.split(rf"^##+ {title}$", page, flags=re.MULTILINE)[1]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert table is not None
    return dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", table[0], re.MULTILINE))


def test_every_option_of_a_pairwise_judge_is_documented() -> None:
    page = (REFERENCE / "judges.md").read_text(encoding="utf-8")
    names = [option.name for option in options_of(PairwiseOptions)]
    assert list(documented(page, "Pairwise judge")) == ["kind", *names]


@pytest.mark.parametrize("kind", PROVIDERS.modules)
def test_every_option_of_a_provider_is_documented(kind: str) -> None:
    options = options_of(PROVIDERS.module(kind, "test").Options)
    rows = documented(PAGE, kind)
    assert list(rows) == [option.name for option in options]
    for option in options:
        assert len(option.doc) > 4
        if isinstance(option.default, bool | int | float | str):
            shown = rows[option.name].strip("`")
            assert shown in (str(option.default), json.dumps(option.default))


@pytest.mark.parametrize("spec", CALLED, ids=json.dumps)
def test_the_examples_run(spec: Mapping[str, Any]) -> None:
    with ModelServer() as server:
        here = {**spec, "base_url": server.url, "api_key_env": "THE_KEY"}
        assert ask(provider(here), HELLO).text == "Hello!"
    provider(spec, {})  # as it stands it can be built too

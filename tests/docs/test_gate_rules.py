"""The reference of gate rules has an example of everything, and every example is a rule."""

from __future__ import annotations

from dataclasses import fields

import pytest
import yaml
from tests.docs.conftest import ROOT, blocks

from fairtrial.app.gate_rules import gate_rules
from fairtrial.model.gate_rule import MEASURES, DeltaBound, GateRule, RowBound, SpendBound

PAGE = (ROOT / "docs" / "reference" / "gate-rules.md").read_text(encoding="utf-8")
RULES = [
    rule
    for block in blocks(PAGE)
    if block.language == "yaml"
    for rule in gate_rules(yaml.safe_load(block.text), "gate-rules.md")
]


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_has_an_example(measure: str) -> None:
    assert any(getattr(rule, measure) is not None for rule, _ in RULES)


@pytest.mark.parametrize("kind", [GateRule, RowBound, DeltaBound, SpendBound])
def test_every_key_is_described_and_shown(kind: type) -> None:
    shown = {key for _, rule in RULES for key in _keys(rule)}
    for field in fields(kind):
        assert f"`{field.name}`" in PAGE
        assert field.name in shown


def _keys(value: object) -> set[str]:
    if not isinstance(value, dict):
        return set()
    return {*value, *(key for part in value.values() for key in _keys(part))}

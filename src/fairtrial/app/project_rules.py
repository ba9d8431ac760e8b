"""The rules of a project's release gate, as another program gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from fairtrial.app.baselines import project_key
from fairtrial.app.bench import Bench
from fairtrial.app.exp_gate import exp_gate
from fairtrial.app.gate_rules import gate_rules
from fairtrial.app.reports.gate import GateRulesReport
from fairtrial.app.requests.exp_gate import Request
from fairtrial.app.spec_files import yaml_value
from fairtrial.model.errors import DefectError, UsageError
from fairtrial.model.json import Json

_LONGEST: Final = 64 * 1024


def set_rules(bench: Bench, written: Sequence[Json]) -> GateRulesReport:
    """Keep rules as the project's.

    Raises:
        UsageError: one is wrong.
    """
    gate_rules(written, "rules")
    bench.store.settings.set(project_key(bench, "gate"), list(written), bench.clock.now())
    return kept_rules(bench)


def set_written_rules(bench: Bench, text: str) -> GateRulesReport:
    """Keep rules as the project's, as somebody wrote them in YAML or JSON.

    Raises:
        UsageError: it cannot be read, holds no rules, or one is wrong.
    """
    if len(text) > _LONGEST:
        raise UsageError(f"the rules are longer than {_LONGEST:,} characters", where="rules")
    found = yaml_value(text, "rules")
    written = found.get("gate") if isinstance(found, dict) else found
    if not written:
        raise UsageError("this holds no rules", where="rules", fix="write a list of them")
    return set_rules(bench, written)


def rules_text(written: Sequence[Mapping[str, Json]]) -> str:
    """Return rules in YAML; nothing for none."""
    # Only who edits rules needs YAML.
    import yaml  # noqa: PLC0415

    if not written:
        return ""
    return yaml.safe_dump([dict(rule) for rule in written], sort_keys=False, allow_unicode=True)


def clear_rules(bench: Bench) -> GateRulesReport:
    """Forget the project's rules."""
    bench.store.settings.delete(project_key(bench, "gate"))
    return kept_rules(bench)


def kept_rules(bench: Bench) -> GateRulesReport:
    """Return the project's rules."""
    report = exp_gate(bench, Request())
    if not isinstance(report, GateRulesReport):
        raise DefectError("a gate without an experiment is no list of rules")
    return report

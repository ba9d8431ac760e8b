"""The rules of a project's release gate, as another program gives them."""

from __future__ import annotations

from collections.abc import Sequence

from fairtrial.app.baselines import project_key
from fairtrial.app.bench import Bench
from fairtrial.app.exp_gate import exp_gate
from fairtrial.app.gate_rules import gate_rules
from fairtrial.app.reports.gate import GateRulesReport
from fairtrial.app.requests.exp_gate import Request
from fairtrial.model.errors import DefectError
from fairtrial.model.json import Json


def set_rules(bench: Bench, written: Sequence[Json]) -> GateRulesReport:
    """Keep rules as the project's.

    Raises:
        UsageError: one is wrong.
    """
    gate_rules(list(written), "rules")
    bench.store.settings.set(project_key(bench, "gate"), list(written), bench.clock.now())
    return kept_rules(bench)


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

"""`exp gate`: ship or hold, by rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairtrial.analysis.gate.release import describe
from fairtrial.app.baselines import project_key, project_of
from fairtrial.app.bench import Bench
from fairtrial.app.gate_rules import Rules, gate_rules
from fairtrial.app.picturing import checked_plot, pictured_experiment
from fairtrial.app.release_gate import grader_names, judge, project_rules
from fairtrial.app.reports.accompanied import AccompaniedReport
from fairtrial.app.reports.gate import GateReport, GateRulesReport
from fairtrial.app.requests.exp_gate import Request
from fairtrial.app.spec_files import read_document
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import Experiment


def exp_gate(bench: Bench, request: Request) -> GateReport | GateRulesReport | AccompaniedReport:
    """Hold an experiment against rules, or set, clear or show the project's rules.

    Raises:
        NotFoundError: an experiment, an arm or a file does not exist.
        UsageError: there are no rules, one is wrong, or the picture cannot be written.
    """
    path = checked_plot(bench, request.picture.plot)
    if request.set is not None or request.clear:
        _change(bench, request)
    if request.experiment is None:
        rules = project_rules(bench)
        names = tuple(rule.name or describe(rule) for rule, _ in rules)
        written = tuple(written for _, written in rules)
        return GateRulesReport(str(project_of(bench.cwd)), names, written)
    state = bench.store.experiments.find(request.experiment)
    rules_and_source = _rules(bench, request, state.experiment)
    report = judge(bench, state, rules_and_source, given=request.baseline, arm=request.arm)
    return report if path is None else pictured_experiment(bench, report, state.experiment.id, path)


def _change(bench: Bench, request: Request) -> None:
    key = project_key(bench, "gate")
    if request.clear and request.set is not None:
        raise UsageError("--set and --clear do not go together", fix="leave one out")
    if request.set is None:
        bench.store.settings.delete(key)
        return
    written = _list_in(bench, request.set)
    gate_rules(written, str(request.set))
    bench.store.settings.set(key, written, bench.clock.now())


def _rules(bench: Bench, request: Request, experiment: Experiment) -> tuple[Rules, str]:
    graders = grader_names(experiment)
    if request.rules is not None:
        return gate_rules(_list_in(bench, request.rules), str(request.rules), graders), "file"
    own = experiment.spec.get("gate")
    if own:
        return gate_rules(own, "the experiment's rules", graders), "spec"
    rules = project_rules(bench, graders)
    if not rules:
        raise UsageError(
            f"{experiment.name} has no rules, and neither has the project",
            fix="give some with --rules FILE, keep some with --set FILE, or add `gate` to the "
            f"spec; against another run: fairtrial exp compare OTHER {experiment.id} --gate",
        )
    return rules, "project"


def _list_in(bench: Bench, path: Path) -> Any:
    """Return the list of a file: itself, or what `gate` is in a spec."""
    document = read_document(bench.path(path))
    written = document.get("gate") if isinstance(document, dict) else document
    if not written:
        raise UsageError(
            "holds no rules", where=str(path), fix="write a list of rules, or a spec with `gate`"
        )
    return written

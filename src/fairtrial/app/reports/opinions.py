"""What pairwise judges and people say of a comparison, as JSON."""

from __future__ import annotations

from dataclasses import asdict

from fairtrial.analysis.judge_agreement import Calibration, JudgePanel
from fairtrial.analysis.labelled_delta import SHARED, LabelCount, LabelledDelta, LabelReading
from fairtrial.analysis.pairwise_judging import JudgedPairs, PairwiseFinding
from fairtrial.analysis.winner_calibration import WinnerCalibration
from fairtrial.model.json import Json
from fairtrial.model.pairwise import Answer, JudgedPair
from fairtrial.stats.agreement.confusion import Confusion
from fairtrial.stats.agreement.kappa import Agreement
from fairtrial.stats.interval import Interval
from fairtrial.stats.pairwise import Pairwise
from fairtrial.stats.ppi.difference import CorrectedDifference


def finding_json(finding: PairwiseFinding) -> dict[str, Json]:
    """Return what one pairwise judge found, with every pair."""
    spec = finding.spec
    return {
        "name": spec.name,
        "rubric": spec.rubric,
        "provider": spec.provider.kind,
        "model": spec.model,
        "n_pairs": len(finding.pairs),
        "n_judged": finding.judged,
        "result": None if finding.found is None else _result(finding.found),
        "undecided": dict(finding.undecided),
        "calls": finding.calls,
        "kept": finding.kept,
        "cost_usd": finding.cost_usd,
        "calibration": None
        if finding.calibration is None
        else _winner_calibration(finding.calibration),
        "pairs": [_pair(pair) for pair in finding.pairs],
    }


def panel_json(panel: JudgePanel) -> dict[str, Json]:
    """Return how far several judges agree."""
    return {
        "fleiss": agreement_json(panel.fleiss),
        "alpha": agreement_json(panel.alpha),
        "pairs": [
            {"judges": list(names), **agreement_json(found)} for names, found in panel.pairs.items()
        ],
    }


def judged_json(judged: JudgedPairs) -> dict[str, Json]:
    """Return what pairwise judges found, and how far they agree."""
    agreement = judged.agreement
    return {
        "judges": [finding_json(finding) for finding in judged.findings],
        "agreement": None if agreement is None else panel_json(agreement),
        "unknown_labels": list(judged.unknown_labels),
    }


def reading_json(reading: LabelReading) -> dict[str, Json]:
    """Return what people's labels came to."""
    return {
        "corrections": [labelled_json(found) for found in reading.deltas],
        "unknown_a": list(reading.unknown[0]),
        "unknown_b": list(reading.unknown[1]),
        "shared": reading.shared,
        "warnings": [SHARED] if reading.shared else [],
    }


def labelled_json(found: LabelledDelta) -> dict[str, Json]:
    """Return a difference with and without human labels."""
    alone, correction = found.alone.difference, found.correction
    return {
        "criterion": found.criterion,
        "n": alone.n,
        "min_labels": found.least,
        "graders_alone": {
            "estimate": alone.estimate,
            "ci": _interval(alone.interval),
            "verdict": found.alone.verdict.value,
        },
        "headline": None if found.headline is None else found.headline.method,
        "verdict": found.verdict.value,
        "shift": found.shift,
        "changed": found.changed,
        "reason": correction.reason,
        "labels_selected": correction.selected,
        "ppi": _corrected(correction.ppi),
        "post_stratified": _corrected(correction.post_stratified),
        "a": _arm(found.labels[0], found.agreement[0]),
        "b": _arm(found.labels[1], found.agreement[1]),
    }


def agreement_json(found: Agreement) -> dict[str, Json]:
    """Return an agreement beyond chance; null where it is undefined, and `reason` says why."""
    return {
        "method": found.method,
        "estimate": found.estimate,
        "agreement": found.agreement,
        "ci": _interval(found.interval),
        "n": found.n,
        "reason": found.reason,
    }


def _result(found: Pairwise) -> dict[str, Json]:
    p, position_p = found.test.p_mid, found.position_test.p_mid
    return {
        "wins": found.wins,
        "losses": found.losses,
        "ties": found.ties,
        "net": found.net.estimate,
        "ci": _interval(found.net.interval),
        "p": {"method": "sign test, mid-p", "value": p},
        "p_better": {"method": "one-sided sign test, mid-p", "value": found.test.p_mid_greater},
        "consistent": found.consistent,
        "first_share": found.first_share,
        "both_first": found.both_first,
        "both_second": found.both_second,
        "position_bias": found.position.estimate,
        "position_ci": _interval(found.position.interval),
        "position_p": {"method": "sign test, mid-p", "value": position_p},
        "warnings": list(found.warnings),
    }


def _pair(pair: JudgedPair) -> dict[str, Json]:
    return {
        "case_id": pair.key.case_id,
        "condition": pair.key.condition,
        "winner": pair.winner,
        "a_first": _answer(pair.a_first),
        "b_first": _answer(pair.b_first),
    }


def _answer(answer: Answer) -> dict[str, Json]:
    return {"winner": answer.winner, "reason": answer.reason}


def _winner_calibration(found: WinnerCalibration) -> dict[str, Json]:
    return {
        "n": found.n,
        "agreed": found.agreed,
        "accuracy": found.accuracy,
        "ci": _interval(found.interval),
        "kappa": agreement_json(found.kappa),
        "sides": None if found.sides is None else confusion_json(found.sides),
        "n_outside_test_split": found.outside,
        "reason": found.reason,
    }


def confusion_json(found: Confusion) -> dict[str, Json]:
    """Return a judge's verdicts against people's; a rate without cases is null."""
    return {
        "tp": found.tp,
        "fp": found.fp,
        "fn": found.fn,
        "tn": found.tn,
        "tpr": found.tpr,
        "tpr_ci": _interval(found.tpr_interval),
        "tnr": found.tnr,
        "tnr_ci": _interval(found.tnr_interval),
    }


def _corrected(found: CorrectedDifference) -> dict[str, Json]:
    return {
        "method": found.method,
        "estimate": found.estimate,
        "ci": _interval(found.interval),
        "p": None if found.p is None else {"method": found.p.method, "value": found.p.value},
        "weight_a": found.weight_baseline,
        "weight_b": found.weight_candidate,
        "clusters": found.clusters,
        "reason": found.reason,
    }


def _arm(count: LabelCount, found: Calibration) -> dict[str, Json]:
    return {
        "labels": count.usable,
        "skipped": count.skipped,
        "unused": count.unused,
        "agreement": None if found.confusion is None else confusion_json(found.confusion),
        "kappa": agreement_json(found.kappa),
    }


def _interval(interval: Interval | None) -> Json:
    return None if interval is None else asdict(interval)

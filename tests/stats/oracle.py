"""Every method of `oracle.json` as a call of the public API, returning the expected shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fairtrial.analysis.cases import paired_scores, paired_trials
from fairtrial.analysis.paired import paired
from fairtrial.analysis.plateau import PlateauRules, Progress, plateau_of_gains
from fairtrial.stats.adaptive import adaptive_expectation, adaptive_verdict
from fairtrial.stats.agreement.confusion import confusion, rogan_gladen
from fairtrial.stats.agreement.kappa import (
    Agreement,
    cohen_kappa,
    cohen_kappa_of_table,
    fleiss_kappa,
    krippendorff_alpha,
)
from fairtrial.stats.dunnett import dunnett
from fairtrial.stats.edetector.bets import MIXTURE, Agrapa, Bet, Fixed, LowerBound
from fairtrial.stats.edetector.detector import e_detector
from fairtrial.stats.gate.cross_fitted import (
    cross_fitted_gain,
    excess_break_share,
    net_gain_per_case,
)
from fairtrial.stats.gate.net_gain import break_share, fewest_fixes, net_gain
from fairtrial.stats.halving import halving_plan
from fairtrial.stats.interval import Interval
from fairtrial.stats.log_ratio import paired_change
from fairtrial.stats.multiplicity import benjamini_hochberg, holm
from fairtrial.stats.noninferiority import non_inferiority_t
from fairtrial.stats.paired.bonett_price import bonett_price
from fairtrial.stats.paired.bootstrap import bootstrap_mean
from fairtrial.stats.paired.counts import PairedCounts
from fairtrial.stats.paired.hodges_lehmann import hodges_lehmann
from fairtrial.stats.paired.mcnemar import mcnemar
from fairtrial.stats.paired.newcombe import newcombe
from fairtrial.stats.paired.sign_flip import sign_flip
from fairtrial.stats.paired.student import cluster_t, guarded_t
from fairtrial.stats.paired.tango import tango
from fairtrial.stats.paired.wilcoxon import wilcoxon
from fairtrial.stats.pairwise import pairwise
from fairtrial.stats.passk import pass_at_k, pass_hat_k, pass_metrics, seq_at_k
from fairtrial.stats.power import (
    PairedDesign,
    mcnemar_power,
    paired_sample_size,
    smallest_effect,
)
from fairtrial.stats.ppi.difference import judged_arm, ppi_difference
from fairtrial.stats.ppi.mean import ppi_mean
from fairtrial.stats.proportion import clopper_pearson, wilson
from fairtrial.stats.selection import failing_subset_gain
from fairtrial.stats.sequential.bounds import (
    classic_obrien_fleming_bounds,
    obrien_fleming_bounds,
)
from fairtrial.stats.sequential.design import sequential_design
from fairtrial.stats.sequential.inference import sequential_inference
from fairtrial.stats.sequential.recursion import crossing
from fairtrial.stats.tails import binomial_pmf
from fairtrial.stats.trials import from_counts, from_scores
from fairtrial.stats.variance import variance_components

Inputs = dict[str, Any]
Outputs = dict[str, Any]


def _ends(interval: Interval | None, prefix: str = "") -> Outputs:
    if interval is None:
        return {f"{prefix}lower": None, f"{prefix}upper": None}
    return {f"{prefix}lower": interval.lower, f"{prefix}upper": interval.upper}


def _level(inputs: Inputs) -> float:
    return float(inputs.get("level", 0.95))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def _adaptive_expected(inputs: Inputs) -> Outputs:
    found = adaptive_expectation(inputs["p"])
    return {
        "p_verdict_pass": found.p_verdict,
        "mean_of_trials": found.mean_of_trials,
        "mean_of_first_two": found.mean_of_first_two,
    }


def _adaptive_verdict(inputs: Inputs) -> Outputs:
    verdicts = [adaptive_verdict(trials) for trials in inputs["trials"]]
    return {"verdict": ["pass" if passed else "fail" for passed in verdicts]}


def _bootstrap(inputs: Inputs) -> Outputs:
    found = bootstrap_mean(inputs["d"], clusters=inputs.get("cluster"), level=_level(inputs))
    return {
        "mean": found.estimate,
        "expanded_tail": found.tail,
        **_ends(found.percentile, "pct_"),
        **_ends(found.interval, "expanded_"),
    }


def _break_share_upper_bound(inputs: Inputs) -> Outputs:
    return {"upper": break_share(inputs["broken"], inputs["solved"], inputs["alpha"]).upper}


def _cluster_mean_ci(inputs: Inputs) -> Outputs:
    found = cluster_t(inputs["d"], clusters=inputs["cluster"], level=_level(inputs))
    return {"mean": found.estimate, "se": found.se, **_ends(found.interval)}


def _sign_flip(inputs: Inputs) -> Outputs:
    found = sign_flip(inputs["d"], clusters=inputs.get("cluster"))
    return {"p_two_sided": found.p_exact, "p_greater": found.p_exact_greater}


def _agreement(found: Agreement, name: str = "kappa") -> Outputs:
    return {
        name: found.estimate,
        "agreement": found.agreement,
        "se": found.se,
        **_ends(found.interval),
    }


def _dunnett(inputs: Inputs) -> Outputs:
    groups = dict(inputs["groups"])
    control = groups.pop("ctl" if "ctl" in groups else next(iter(groups)))
    found = dunnett(control, groups)
    return {"p": list(found.p.values())}


def _bet(inputs: Inputs) -> Bet:
    name = inputs.get("bet", "agrapa")
    if name == "fixed":
        return Fixed((inputs.get("fraction", 0.5),))
    if name == "mixture":
        return Fixed(tuple(inputs["fractions"])) if "fractions" in inputs else MIXTURE
    prior = (
        inputs.get("c", 0.9),
        inputs.get("prior_mean", 0.0),
        inputs.get("prior_var", 0.01),
        inputs.get("prior_n", 1),
    )
    return LowerBound(*prior) if name == "lbow" else Agrapa(*prior)


def _e_detector(inputs: Inputs) -> Outputs:
    found = e_detector(
        inputs["gains"],
        eps=inputs["eps"],
        upper=inputs["upper"],
        kind=inputs.get("kind", "sr"),
        delta=inputs.get("delta", 0.05),
        bet=_bet(inputs),
    )
    return {
        "log_evidence": list(found.log_evidence),
        "evidence": list(found.evidence),
        "stop_round": found.stop_round,
    }


def _failing_subset(inputs: Inputs) -> Outputs:
    found = failing_subset_gain(inputs["beta_a"], inputs["beta_b"], inputs["k"])
    return {"expected_gain_without_any_change": found.estimate}


def _gate_min_fixed_table(inputs: Inputs) -> Outputs:
    rows = range(inputs.get("rows", 8))
    return {
        "table": [
            {"broken": k, "min_fixed": fewest_fixes(k, inputs["lam"], inputs["alpha"])}
            for k in rows
        ]
    }


def _gate_net_aa_expectation(inputs: Inputs) -> Outputs:
    p, k_a, k_b = inputs["p"], inputs["k_a"], inputs["k_b"]
    pairs = [(a, b) for a in range(k_a + 1) for b in range(k_b + 1)]
    net = net_gain_per_case(
        from_counts([a for a, _ in pairs], [k_a] * len(pairs)),
        from_counts([b for _, b in pairs], [k_b] * len(pairs)),
        inputs["lam"],
    )
    chance = [binomial_pmf(a, k_a, p) * binomial_pmf(b, k_b, p) for a, b in pairs]
    return {"expected_net": float(net @ np.array(chance))}


def _gate_net_test(inputs: Inputs) -> Outputs:
    found = net_gain(inputs["fixed"], inputs["broken"], inputs["lam"])
    ships = found.n > 0 and found.p_mid <= 0.05
    return {"p_exact": found.p_exact, "p_midp": found.p_mid, "ship_net_at_0.05": ships}


def _gate_net_trials(inputs: Inputs) -> Outputs:
    arms = (from_scores("a", inputs["a"]), from_scores("b", inputs["b"]))
    gain = cross_fitted_gain(
        *arms,
        harm_weight=inputs["lam"],
        clusters=inputs.get("cluster"),
        pseudo_weight=inputs.get("pseudo_weight", 0.5),
    )
    share = excess_break_share(*arms)
    return {
        "net_per_case": gain.per_case.tolist(),
        "net_total": gain.total,
        "smoothed_mean": gain.mean,
        "smoothed_se": gain.se,
        "t": gain.t,
        "p": gain.p,
        "break_share": share.share,
        "noise_floor_a": share.floor_baseline,
        "noise_floor_b": share.floor_candidate,
        "excess_break_share": share.excess,
    }


def _gs_final_inference(inputs: Inputs) -> Outputs:
    found = sequential_inference(
        _listed(inputs["info"]),
        _listed(inputs["bounds"]),
        inputs["stopped_look"],
        inputs["z"],
        _level(inputs),
    )
    return {
        "p_two_sided": found.p.value,
        "median_unbiased": found.median_unbiased,
        "naive": found.naive,
        **_ends(found.interval),
        **_ends(found.repeated, "rci_"),
    }


def _gs_classic(inputs: Inputs) -> Outputs:
    z = classic_obrien_fleming_bounds(inputs["looks"], inputs["alpha"]).z
    return {"z": list(z), "constant": z[-1]}


def _gs_spending(inputs: Inputs) -> Outputs:
    found = obrien_fleming_bounds(_listed(inputs["info"]), inputs["alpha"])
    return {
        "z": list(found.z),
        "nominal_p_two_sided": list(found.nominal_p),
        "alpha_spent": list(found.spent),
    }


def _gs_overall_alpha(inputs: Inputs) -> Outputs:
    return {"two_sided_alpha": crossing(_listed(inputs["info"]), _listed(inputs["z"])).total}


def _gs_power(inputs: Inputs) -> Outputs:
    looks = inputs["looks"]
    bounds = obrien_fleming_bounds([(k + 1) / looks for k in range(looks)], inputs["alpha"])
    found = sequential_design(bounds, inputs["power"])
    return {
        "inflation": found.inflation,
        "asn_ratio_h1": found.average_h1,
        "asn_ratio_h0": found.average_h0,
        "cum_power": list(found.cumulative_power),
    }


def _guarded_t(inputs: Inputs) -> Outputs:
    found = guarded_t(
        inputs["d"], trials=inputs["k"], clusters=inputs.get("cluster"), level=_level(inputs)
    )
    return {
        "raw_mean": found.estimate,
        "centre": found.centre,
        "se": found.se,
        **_ends(found.interval),
    }


def _hodges_lehmann(inputs: Inputs) -> Outputs:
    # R drops zeros before it forms the averages.
    found = hodges_lehmann(inputs["d"], level=_level(inputs), drop_zeros=True)
    return {
        "hl": found.estimate,
        "p_two_sided": found.p.value if found.p else None,
        **_ends(found.interval),
    }


def _judge_confusion(inputs: Inputs) -> Outputs:
    found = confusion(inputs["judge"], inputs["human"])
    return {
        "tpr": found.tpr,
        "tnr": found.tnr,
        "accuracy": found.accuracy,
        "tp": found.tp,
        "fp": found.fp,
        "fn": found.fn,
        "tn": found.tn,
    }


def _mcnemar(inputs: Inputs) -> Outputs:
    found = mcnemar(inputs["fixed"], inputs["broken"])
    return {
        "p_exact": found.p_exact,
        "p_midp": found.p_mid,
        "p_exact_greater": found.p_exact_greater,
    }


def _mcnemar_power(inputs: Inputs) -> Outputs:
    power = mcnemar_power(inputs["p_fixed"], inputs["p_broken"], inputs["n"], alpha=inputs["alpha"])
    return {"power": power}


def _mde(inputs: Inputs) -> Outputs:
    found = smallest_effect(
        inputs["n"], inputs["sd_diff"] ** 2, alpha=inputs["alpha"], power=inputs["power"]
    )
    return {"mde": found.effect}


def _non_inferiority(inputs: Inputs) -> Outputs:
    found = non_inferiority_t(inputs["d"], inputs["margin"], level=_level(inputs))
    return {
        "non_inferior": found.non_inferior,
        "equivalent": found.equivalent,
        "p_one_sided": found.p_non_inferior,
        "p_equivalent": found.p_equivalent,
        **_ends(found.interval),
    }


def _differences(inputs: Inputs) -> Any:
    d = np.asarray(inputs["d"], dtype=np.float64)
    trials = inputs.get("k", 1)
    score_range = 1.0 if inputs.get("bounded", True) else None
    scaled = d * trials
    if score_range is None or not np.allclose(scaled, np.rint(scaled)):
        return paired_scores(np.zeros_like(d), d, score_range=score_range)
    up = np.rint(np.maximum(scaled, 0.0))
    down = np.rint(np.maximum(-scaled, 0.0))
    many = np.full(d.size, trials)
    return paired_trials(from_counts(down, many), from_counts(up, many))


def _paired_ci_degenerate(inputs: Inputs) -> Outputs:
    interval = paired(_differences(inputs), level=_level(inputs)).interval
    ends = _ends(interval)
    return {
        **ends,
        "lower_at_most": ends["lower"],
        "upper_at_least": ends["upper"],
        "width_positive": interval is not None and interval.width > 0.0,
    }


def _paired_ci_single_case(inputs: Inputs) -> Outputs:
    return {"verdict": paired(_differences(inputs), level=_level(inputs)).verdict.value}


def _paired_huge(inputs: Inputs) -> Outputs:
    names = {"i": np.arange(inputs["n"], dtype=np.int64)}
    a, b = (
        np.asarray(eval(inputs[arm], {"__builtins__": {}}, names), dtype=np.float64)  # noqa: S307
        for arm in ("a", "b")
    )
    ones = np.ones(inputs["n"])
    found = paired(paired_trials(from_counts(a, ones), from_counts(b, ones)))
    assert found.counts is not None
    assert found.difference.p_exact is not None
    return {
        "fixed": found.counts.fixed,
        "broken": found.counts.broken,
        "diff": found.difference.estimate,
        "mcnemar_exact_p": found.difference.p_exact.value,
        **_ends(cluster_t(b - a).interval, "t_"),
    }


def _log_ratio(inputs: Inputs) -> Outputs:
    found = paired_change(inputs["a"], inputs["b"], level=_level(inputs))
    return {
        "ratio": found.estimate,
        "p_wilcoxon": found.p.value if found.p else None,
        **_ends(found.interval),
    }


def _rate_diff(inputs: Inputs) -> Outputs:
    counts = PairedCounts(inputs["both"], inputs["fixed"], inputs["broken"], inputs["neither"])
    level = _level(inputs)
    return {
        "diff": counts.difference,
        **_ends(tango(counts, level).interval, "tango_"),
        **_ends(newcombe(counts, level).interval, "newcombe_"),
        **_ends(bonett_price(counts, level).interval, "bonett_price_"),
    }


def _sample_size(inputs: Inputs) -> Outputs:
    design = PairedDesign(
        inputs["var_between_diff"],
        inputs["var_within_a"],
        inputs["var_within_b"],
        inputs["k_a"],
        inputs["k_b"],
    )
    found = paired_sample_size(design, inputs["mde"], alpha=inputs["alpha"], power=inputs["power"])
    return {"n_exact": found.exact, "n": found.n}


def _paired_t(inputs: Inputs) -> Outputs:
    found = cluster_t(inputs["d"], level=_level(inputs))
    return {
        "mean": found.estimate,
        "p_two_sided": found.p.value if found.p else None,
        **_ends(found.interval),
    }


def _pairwise(inputs: Inputs) -> Outputs:
    found = pairwise([(verdict["ab"], verdict["ba"]) for verdict in inputs["verdicts"]])
    return {
        "wins": found.wins,
        "losses": found.losses,
        "ties": found.ties,
        "score_b": found.score_b,
        "consistent": found.consistent,
        "first_position_share": found.first_share,
        "both_first": found.both_first,
        "both_second": found.both_second,
        "p_sign_two_sided": found.test.p_exact,
        "p_position": found.position_test.p_exact,
    }


def _pass_at_k(inputs: Inputs) -> Outputs:
    n, c, k = inputs["n"], inputs["c"], inputs["k"]
    return {"pass_at_k": pass_at_k(n, c, k), "pass_hat_k": pass_hat_k(n, c, k)}


def _pass_metrics(inputs: Inputs) -> Outputs:
    found = pass_metrics([(case["n"], case["c"]) for case in inputs["cases"]], inputs["ks"])
    return {
        "flaky": found.flaky,
        **{f"pass_at_{k}": value.estimate for k, value in found.at.items()},
        **{f"pass_hat_{k}": value.estimate for k, value in found.hat.items()},
    }


def _plateau_exit(inputs: Inputs) -> Outputs:
    gains = tuple(inputs["gains"])
    rules = PlateauRules(eps=inputs["eps"], delta=inputs["delta"])
    bounds = tuple(inputs.get("upper", 1.0) for _ in gains)
    return {"exit": int(plateau_of_gains(Progress(gains, bounds, 0), rules).exit_code)}


def _ppi_mean(inputs: Inputs) -> Outputs:
    found = ppi_mean(
        inputs["labels"],
        inputs["judge_labeled"],
        inputs["judge_unlabeled"],
        level=_level(inputs),
    )
    ends = _ends(found.interval_z)
    return {
        "lam": found.weight,
        "estimate": found.estimate,
        "lower_z": ends["lower"],
        "upper_z": ends["upper"],
    }


def _ppi_difference(inputs: Inputs) -> Outputs:
    found = ppi_difference(
        judged_arm(inputs["labels_a"], inputs["judge_a"]),
        judged_arm(inputs["labels_b"], inputs["judge_b"]),
        clusters=inputs.get("cluster"),
        level=_level(inputs),
    )
    return {
        "lam_a": found.weight_baseline,
        "lam_b": found.weight_candidate,
        "diff": found.estimate,
        "se_joint_ij": found.se,
    }


def _rogan_gladen(inputs: Inputs) -> Outputs:
    found = rogan_gladen(inputs["positives"], inputs["n"], inputs["tpr"], inputs["tnr"])
    return {
        "apparent": found.apparent,
        "corrected_raw": found.raw,
        "corrected": found.estimate,
    }


def _seq_at_k(inputs: Inputs) -> Outputs:
    return {"seq_at": [v.estimate for v in seq_at_k(inputs["attempts"], inputs["K"])]}


def _halving(inputs: Inputs) -> Outputs:
    plan = halving_plan(inputs["configs"], inputs["budget"])
    return {
        "rounds": [
            {"configs": r.configs, "per_config": r.per_config, "used": r.used} for r in plan.rounds
        ]
    }


def _variance(inputs: Inputs) -> Outputs:
    found = variance_components(from_scores("scores", inputs["scores"]))
    return {
        "ms_between": found.ms_between,
        "ms_within": found.ms_within,
        "var_within": found.within,
        "var_between": found.between,
        "flip_rate": found.flip_rate,
        "icc": found.icc,
    }


def _wilcoxon(inputs: Inputs) -> Outputs:
    zeros = inputs.get("zeros", "drop")
    found = wilcoxon(inputs["d"], zeros=zeros)
    result: Outputs = {"p_two_sided": found.p, "V": found.statistic, "p_greater": found.p_greater}
    if zeros == "drop":
        middle = hodges_lehmann(inputs["d"], level=_level(inputs), drop_zeros=True)
        result |= {"hl": middle.estimate, **_ends(middle.interval)}
    return result


METHODS: dict[str, Callable[[Inputs], Outputs]] = {
    "adaptive_expected": _adaptive_expected,
    "adaptive_verdict": _adaptive_verdict,
    "benjamini_hochberg": lambda i: {"adjusted": benjamini_hochberg(i["p"]).tolist()},
    "bootstrap_mean_ci": _bootstrap,
    "break_share_upper_bound": _break_share_upper_bound,
    "cluster_bootstrap_mean_ci": _bootstrap,
    "cluster_mean_ci_cr1_t": _cluster_mean_ci,
    "cluster_sign_flip": _sign_flip,
    "cohen_kappa": lambda i: _agreement(cohen_kappa(i["r1"], i["r2"])),
    "cohen_kappa_table": lambda i: _agreement(cohen_kappa_of_table(i["table"], level=_level(i))),
    "dunnett": _dunnett,
    "e_detector": _e_detector,
    "e_detector_constant_null": _e_detector,
    "failing_subset_apparent_gain": _failing_subset,
    "fleiss_kappa": lambda i: _agreement(fleiss_kappa(i["table"])),
    "gate_min_fixed_table": _gate_min_fixed_table,
    "gate_net_aa_expectation": _gate_net_aa_expectation,
    "gate_net_test": _gate_net_test,
    "gate_net_trials": _gate_net_trials,
    "gs_final_inference": _gs_final_inference,
    "gs_obf_classic_bounds": _gs_classic,
    "gs_obf_spending_bounds": _gs_spending,
    "gs_overall_alpha": _gs_overall_alpha,
    "gs_power": _gs_power,
    "guarded_t_ci": _guarded_t,
    "hodges_lehmann": _hodges_lehmann,
    "holm": lambda i: {"adjusted": holm(i["p"]).tolist()},
    "judge_confusion": _judge_confusion,
    "krippendorff_alpha_nominal": lambda i: _agreement(krippendorff_alpha(i["ratings"]), "alpha"),
    "mcnemar": _mcnemar,
    "mcnemar_exact_power": _mcnemar_power,
    "mde_paired_t": _mde,
    "non_inferiority_t": _non_inferiority,
    "paired_ci_degenerate": _paired_ci_degenerate,
    "paired_ci_single_case": _paired_ci_single_case,
    "paired_huge": _paired_huge,
    "paired_log_ratio_hl": _log_ratio,
    "paired_rate_diff_ci": _rate_diff,
    "paired_sample_size": _sample_size,
    "paired_t": _paired_t,
    "pairwise": _pairwise,
    "pass_at_k": _pass_at_k,
    "pass_metrics_suite": _pass_metrics,
    "plateau_exit": _plateau_exit,
    "ppi_mean": _ppi_mean,
    "ppi_paired_diff": _ppi_difference,
    "rate_ci_clopper_pearson": lambda i: _ends(clopper_pearson(i["x"], i["n"], _level(i))),
    "rate_ci_wilson": lambda i: _ends(wilson(i["x"], i["n"], _level(i))),
    "rogan_gladen": _rogan_gladen,
    "seq_at_k": _seq_at_k,
    "sequential_halving_schedule": _halving,
    "sign_flip_permutation": _sign_flip,
    "variance_components": _variance,
    "wilcoxon_signed_rank": _wilcoxon,
}

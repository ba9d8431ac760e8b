"""Ship or hold: does the change fix more than it breaks?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy.typing as npt

from fairtrial.analysis.flips import Flips, flips
from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.json import Json
from fairtrial.stats.checks import check_at_least, check_between, check_share
from fairtrial.stats.gate.cross_fitted import cross_fitted_gain, excess_break_share
from fairtrial.stats.gate.net_gain import break_share, fewest_fixes, net_gain
from fairtrial.stats.trials import TrialSums
from fairtrial.stats.variance import variance_components


@dataclass(frozen=True, slots=True)
class ShipRules:
    """What a change must show.

    Attributes:
        harm_weight: How many fixes one break costs.
        break_limit: Largest share of solved cases that may break.
        alpha: One-sided error of the net-gain test.
        bound_breaks: Hold the upper bound of the share against the limit, not the share; with one
            trial only. It needs 29 solved cases for a limit of 10 %.
    """

    harm_weight: float = 2.0
    break_limit: float = 0.10
    alpha: float = 0.05
    bound_breaks: bool = False

    def __post_init__(self) -> None:
        check_at_least("harm_weight", self.harm_weight, 1e-9)
        check_share("break_limit", self.break_limit)
        check_between("alpha", self.alpha, 0.0, 0.5)


@dataclass(frozen=True, slots=True)
class Validity:
    """Facts about the two runs that must hold before numbers mean anything.

    Attributes:
        finished: Both runs finished.
        same_dataset: Same dataset version.
        same_graders: Same graders and judges, in the same versions.
        selected_on_baseline: The cases were chosen by the baseline run itself, e.g. its failures.
        raced: A race chose its arms by these very trials.
        clamped: Scores were cut to their range, which hides losses.
    """

    finished: bool = True
    same_dataset: bool = True
    same_graders: bool = True
    selected_on_baseline: bool = False
    raced: bool = False
    clamped: bool = False

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the runs cannot be compared, if so."""
        checks = (
            (not self.finished, "a run is not finished"),
            (not self.same_dataset, "not comparable: the runs used different dataset versions"),
            (not self.same_graders, "not comparable: the runs used different graders"),
            (
                self.selected_on_baseline,
                (
                    "the baseline run selected these cases, so an unchanged agent would seem to "
                    "gain: rerun the baseline on them"
                ),
            ),
            (
                self.raced,
                (
                    "a race chose who stays by these very trials, so whoever won it would seem to "
                    "gain: compare on cases that nobody raced on"
                ),
            ),
            (self.clamped, "scores were cut to their range"),
        )
        return tuple(text for failed, text in checks if failed)


@dataclass(frozen=True, slots=True)
class _Findings:
    """The two checks of a gate, with what to print."""

    gains: bool
    breaks_ok: bool
    reasons: tuple[str, ...]
    evidence: dict[str, Json]
    advice: tuple[str, ...]


def ship_gate(
    baseline: TrialSums,
    candidate: TrialSums,
    *,
    case_ids: Sequence[str] | None = None,
    clusters: npt.ArrayLike | None = None,
    rules: ShipRules | None = None,
    validity: Validity | None = None,
) -> Decision:
    """Decide whether a change ships: it must gain, break little, and be measured fairly.

    All checks must pass, so no correction for their number is due. With one trial in an arm the
    net gain is tested on fixed and broken cases; with at least two in both, cross-fitted.

    Args:
        baseline: The baseline's trials on the shared cases.
        candidate: The candidate's, in the same order.
        case_ids: Names of the cases, to list what broke.
        clusters: One label a case; used with several trials.
        rules: What a change must show.
        validity: Facts about the two runs.

    Raises:
        ArgumentError: the arms have different cases, or labels do not fit.
    """
    bars = rules or ShipRules()
    problems = (validity or Validity()).problems
    if baseline.n == 0:
        return Decision(Outcome.TOO_FEW, ("the arms share no case with a verdict in both",))
    changed = flips(baseline, candidate)
    several = min(float(baseline.trials.min()), float(candidate.trials.min())) >= 2.0
    findings = (
        _several_trials((baseline, candidate), changed, clusters, bars)
        if several
        else _one_trial((baseline, candidate), changed, bars)
    )
    evidence: dict[str, Json] = {
        "n": baseline.n,
        "fixed": changed.fixed.size,
        "broken": changed.broken.size,
        "net": changed.net,
        "harm_weight": bars.harm_weight,
        "break_limit": bars.break_limit,
        "alpha": bars.alpha,
        "broken_cases": [case_ids[k] for k in changed.broken] if case_ids is not None else None,
        **findings.evidence,
    }
    ships = findings.gains and findings.breaks_ok and not problems
    return Decision(
        Outcome.SHIP if ships else Outcome.HOLD,
        (*problems, *findings.reasons),
        evidence,
        () if ships else findings.advice,
    )


def _one_trial(arms: tuple[TrialSums, TrialSums], changed: Flips, rules: ShipRules) -> _Findings:
    fixed, broken = changed.fixed.size, changed.broken.size
    test = net_gain(fixed, broken, rules.harm_weight)
    share = break_share(broken, changed.solved_baseline, rules.alpha)
    gains = test.n > 0 and test.p_mid <= rules.alpha
    held_against = share.upper if rules.bound_breaks else share.share
    breaks_ok = held_against is None or held_against <= rules.break_limit
    advice = []
    if not gains:
        need = fewest_fixes(broken, rules.harm_weight, rules.alpha)
        advice.append(f"with {broken:,} broken you would need {need:,} fixed, there are {fixed:,}")
    advice += _flaky_advice(arms[0], rules)
    return _Findings(
        gains,
        breaks_ok,
        _decisive_first((gains, test.describe()), (breaks_ok, share.describe())),
        {
            "method": test.method,
            "p": test.p_mid,
            "p_exact": test.p_exact,
            "break_share": share.share,
            "break_share_upper": share.upper,
        },
        tuple(advice),
    )


def _decisive_first(gain: tuple[bool, str], breaks: tuple[bool, str]) -> tuple[str, str]:
    """Return what the two checks found; what alone holds the change comes first."""
    first, second = (breaks, gain) if gain[0] and not breaks[0] else (gain, breaks)
    return first[1], second[1]


def _flaky_advice(baseline: TrialSums, rules: ShipRules) -> list[str]:
    flip = variance_components(baseline).flip_rate
    if flip is None or flip <= rules.break_limit:
        return []
    return [
        (
            f"{100 * flip:.0f} % of verdicts flip between two runs of the baseline, more than the "
            f"{100 * rules.break_limit:.0f} % that may break: one trial cannot ship; run three"
        )
    ]


def _several_trials(
    arms: tuple[TrialSums, TrialSums],
    changed: Flips,
    clusters: npt.ArrayLike | None,
    rules: ShipRules,
) -> _Findings:
    test = cross_fitted_gain(*arms, harm_weight=rules.harm_weight, clusters=clusters)
    share = excess_break_share(*arms)
    gains = test.t is not None and test.p <= rules.alpha
    breaks_ok = share.excess is None or share.excess <= rules.break_limit
    advice = () if gains else ("more cases or more trials would show a smaller gain",)
    return _Findings(
        gains,
        breaks_ok,
        (
            (changed.describe(), test.describe(), share.describe())
            if gains and breaks_ok
            else (
                *_decisive_first((gains, test.describe()), (breaks_ok, share.describe())),
                changed.describe(),
            )
        ),
        {
            "method": test.method,
            "clusters": test.clusters,
            "p": test.p,
            "net_gain": test.total,
            "break_share": share.share,
            "noise_floor_baseline": share.floor_baseline,
            "noise_floor_candidate": share.floor_candidate,
            "excess_break_share": share.excess,
        },
        advice,
    )

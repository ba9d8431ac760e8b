"""A guard: an earlier suite that a new configuration must not forget."""

from __future__ import annotations

from dataclasses import replace

from fairtrial.analysis.comparing.compare import Compare
from fairtrial.analysis.comparing.deciding import Platform, gate
from fairtrial.analysis.flips import flips
from fairtrial.analysis.gate.ship import ShipRules
from fairtrial.model.decision import Decision, Outcome
from fairtrial.stats.gate.cross_fitted import cross_fitted_gain, excess_break_share
from fairtrial.stats.gate.net_gain import break_share, net_gain
from fairtrial.stats.trials import TrialSums

_NOBODY: Platform = (frozenset(), frozenset())


def guard(found: Compare, rules: ShipRules, platform: Platform = _NOBODY) -> Decision:
    """Return whether a candidate keeps what the baseline can do.

    It need not gain: a suite that both solve has nothing to gain. It holds when too large a share
    of what the baseline solved breaks, or when the losses, weighted, outweigh the gains beyond
    luck; and it gives no verdict where the ship gate gives none.

    Ours. With three trials a case it holds an unchanged candidate 2 to 8 % of the time, and one
    that forgets a fifth of the cases 83 to 100 % (simulated, 40 to 300 cases with Beta(.1, .1) and
    Beta(.5, .5) pass chances). With one trial it holds unchanged ones a third of the time or more:
    luck breaks what was solved by luck.

    Args:
        found: The comparison on the suite.
        rules: Weight of a break, largest share of breaks, one-sided error.
        platform: As for the ship gate.
    """
    asked = gate(found, rules, platform)
    if asked.outcome is Outcome.NO_VERDICT:
        return asked
    baseline, candidate = found.pairs.sums(found.pairs.counted)
    several = min(float(baseline.trials.min()), float(candidate.trials.min())) >= 2.0
    share, p_loss, said = (_several if several else _one)(baseline, candidate, rules)
    breaks = share is not None and share > rules.break_limit
    loses = p_loss is not None and p_loss <= rules.alpha
    changed = flips(baseline, candidate)
    evidence = {
        **asked.evidence,
        "n": baseline.n,
        "fixed": int(changed.fixed.size),
        "broken": int(changed.broken.size),
        "p_loss": p_loss,
        "broken_share": share,
        "breaks": breaks,
        "loses": loses,
    }
    if not breaks and not loses:
        kept = f"{changed.describe()} What was solved is kept."
        return replace(asked, outcome=Outcome.SHIP, reasons=(kept,), evidence=evidence, advice=())
    why = []
    if breaks:
        why.append(f"too much of what was solved breaks: {said}")
    if loses:
        why.append(
            f"losses outweigh gains, a break weighing {rules.harm_weight:g} fixes "
            f"(p = {p_loss:.2g}): {changed.describe()}"
        )
    advice = () if several else ("a flaky suite breaks without any change: use --trials 3",)
    return Decision(Outcome.HOLD, tuple(why), evidence, advice)


def _one(
    baseline: TrialSums, candidate: TrialSums, rules: ShipRules
) -> tuple[float | None, float | None, str]:
    """Return the share that broke, the one-sided p of a loss, and the share in words."""
    changed = flips(baseline, candidate)
    broken = int(changed.broken.size)
    test = net_gain(int(changed.fixed.size), broken, rules.harm_weight)
    share = break_share(broken, changed.solved_baseline, rules.alpha)
    # The mid-p of the other side: what the same binomial has at or below.
    return share.share, 1.0 - test.p_mid if test.n else None, share.describe()


def _several(
    baseline: TrialSums, candidate: TrialSums, rules: ShipRules
) -> tuple[float | None, float | None, str]:
    test = cross_fitted_gain(baseline, candidate, harm_weight=rules.harm_weight)
    share = excess_break_share(baseline, candidate)
    return share.excess, None if test.t is None else 1.0 - test.p, share.describe()

"""A judge against human labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import as_aligned, as_values
from fairtrial.stats.checks import check_count, check_level, check_share
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.interval import Interval
from fairtrial.stats.proportion import wilson


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of a judge's pass/fail verdicts against human labels.

    Attributes:
        tp: Both pass.
        fp: The judge passes what people fail.
        fn: The judge fails what people pass.
        tn: Both fail.
        level: Confidence level of the intervals.
        method: `wilson`.
    """

    tp: int
    fp: int
    fn: int
    tn: int
    level: float = 0.95
    method: str = "wilson"

    def __post_init__(self) -> None:
        check_level(self.level)
        for name in ("tp", "fp", "fn", "tn"):
            check_count(name, getattr(self, name))

    @property
    def n(self) -> int:
        """Cases with both."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def tpr(self) -> float | None:
        """Share of what people pass that the judge passes; None when people pass nothing."""
        return _share(self.tp, self.tp + self.fn)

    @property
    def tnr(self) -> float | None:
        """Share of what people fail that the judge fails; None when people fail nothing."""
        return _share(self.tn, self.tn + self.fp)

    @property
    def accuracy(self) -> float | None:
        """Share of cases they agree on; None without cases."""
        return _share(self.tp + self.tn, self.n)

    @property
    def tpr_interval(self) -> Interval | None:
        """Wilson interval of `tpr`."""
        return _interval(self.tp, self.tp + self.fn, self.level)

    @property
    def tnr_interval(self) -> Interval | None:
        """Wilson interval of `tnr`."""
        return _interval(self.tn, self.tn + self.fp, self.level)

    def describe(self) -> str:
        """Return the comparison in words."""
        if not self.n:
            return "The judge and people have no case in common."
        parts = [f"The judge agrees with people on {self.tp + self.tn:,} of {self.n:,} cases."]
        for what, share, interval in (
            ("good", self.tpr, self.tpr_interval),
            ("bad", self.tnr, self.tnr_interval),
        ):
            if share is None or interval is None:
                parts.append(f"People called nothing {what}.")
            else:
                parts.append(
                    f"It recognises {100 * share:.0f} % of the {what} ones "
                    f"({100 * interval.lower:.0f} to {100 * interval.upper:.0f} %)."
                )
        return " ".join(parts)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _interval(part: int, whole: int, level: float) -> Interval | None:
    return wilson(part, whole, level) if whole else None


def confusion(judge: npt.ArrayLike, human: npt.ArrayLike, *, level: float = 0.95) -> Confusion:
    """Count a judge's verdicts against human labels; both are 0 or 1.

    Use it on the test split only: a judge tuned on the cases it is measured on looks better than
    it is.

    Raises:
        ArgumentError: lengths differ, or a value is neither 0 nor 1.
    """
    truth = _binary("human", as_values("human", human))
    verdict = _binary("judge", as_aligned("judge", judge, as_values("human", human)))
    return Confusion(
        tp=int((verdict & truth).sum()),
        fp=int((verdict & ~truth).sum()),
        fn=int((~verdict & truth).sum()),
        tn=int((~verdict & ~truth).sum()),
        level=level,
    )


def _binary(argument: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    if not np.isin(values, (0.0, 1.0)).all():
        raise ArgumentError(argument, "must hold 0 and 1 only")
    return np.asarray(values == 1.0, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class TruePrevalence:
    """A pass rate corrected for a judge's known errors.

    Attributes:
        apparent: The judge's pass rate.
        raw: The corrected rate, which may leave [0, 1]; None when refused.
        estimate: The corrected rate cut to [0, 1]; None when refused.
        youden: tpr + tnr - 1, what the judge is worth; 0 is a coin.
        n: Cases judged.
        method: `rogan-gladen`.
        reason: Why it was refused.
    """

    apparent: float
    raw: float | None
    estimate: float | None
    youden: float
    n: int
    method: str = "rogan-gladen"
    reason: str = ""

    def describe(self) -> str:
        """Return the corrected rate in words."""
        if self.estimate is None:
            return f"The judge's {100 * self.apparent:.1f} % cannot be corrected: {self.reason}."
        return (
            f"The judge passes {100 * self.apparent:.1f} %; allowing for its known errors the "
            f"true rate is about {100 * self.estimate:.1f} %."
        )


def rogan_gladen(
    positives: int, n: int, tpr: float, tnr: float, *, least_youden: float = 0.2
) -> TruePrevalence:
    """Return the true pass rate behind a judge's apparent one.

    Formula: (apparent + tnr - 1)/(tpr + tnr - 1), cut to [0, 1]. Source: Rogan & Gladen 1978,
    Am J Epidemiol 107:71.

    Use it as a quick look; PPI++ is better where labels belong to the same run. It lies when the
    judge errs differently on this run than on the labelled one, and it is refused when the judge
    is little better than a coin.

    Raises:
        ArgumentError: counts or shares are out of range.
    """
    size = check_count("n", n, 1)
    hits = check_count("positives", positives)
    if hits > size:
        raise ArgumentError("positives", f"must be at most n = {size}, not {hits}")
    youden = check_share("tpr", tpr) + check_share("tnr", tnr) - 1.0
    apparent = hits / size
    if youden < least_youden:
        reason = f"the judge is worth {youden:.2f} (a coin is 0), less than {least_youden:g}"
        return TruePrevalence(apparent, None, None, youden, size, reason=reason)
    raw = (apparent + tnr - 1.0) / youden
    return TruePrevalence(apparent, raw, min(max(raw, 0.0), 1.0), youden, size)

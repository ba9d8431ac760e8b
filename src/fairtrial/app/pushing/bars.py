"""Which of a tool's scores decide whether a trial passes, and from which value on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fairtrial.model.errors import UsageError
from fairtrial.schema.decoding import unknown_name

PASSED: Final = "passed"
"""The grader that stands for a tool's own verdict."""
_RULE: Final = re.compile(r"(?P<name>.+?)\s*(?P<how>>=|<=)\s*(?P<bar>[-+0-9.eE]+)\s*")
_USUAL: Final = 0.5


@dataclass(frozen=True, slots=True)
class Bar:
    """From which value on a score passes.

    Attributes:
        grader: The grader.
        threshold: The value.
        lower_is_better: It passes up to the value, and not from it on.
    """

    grader: str
    threshold: float
    lower_is_better: bool = False

    def passes(self, value: float) -> bool:
        """Return whether a value passes."""
        return value <= self.threshold if self.lower_is_better else value >= self.threshold


@dataclass(slots=True)
class Seen:
    """The values of one grader.

    Attributes:
        scored: How many there are.
        least: The smallest.
        most: The largest.
    """

    scored: int = 0
    least: float = 0.0
    most: float = 0.0

    def add(self, value: float | None) -> None:
        """Take one more."""
        if value is None:
            return
        self.least = value if not self.scored else min(value, self.least)
        self.most = value if not self.scored else max(value, self.most)
        self.scored += 1

    @property
    def is_share(self) -> bool:
        """Whether all are from 0 to 1."""
        return self.least >= 0 and self.most <= 1


@dataclass(frozen=True, slots=True)
class Bars:
    """How trials are decided.

    Attributes:
        graders: As the API takes them.
        deciding: The bars that decide.
        own: The tool's own verdict is a grader of its own.
    """

    graders: Sequence[Mapping[str, Any]]
    deciding: Mapping[str, Bar] = field(default_factory=dict)
    own: bool = False


def rules_of(given: Sequence[str]) -> dict[str, Bar]:
    """Return the bars that the user named.

    Raises:
        UsageError: a rule is none.
    """
    found: dict[str, Bar] = {}
    for text in given:
        match = _RULE.fullmatch(text.strip())
        try:
            bar = float(match["bar"]) if match else None
        except ValueError:
            bar = None
        if match is None or bar is None or not abs(bar) <= 1e12:
            raise UsageError(
                f"{text[:80]!r} says not from which value on a score passes",
                where="--pass",
                fix="write --pass 'accuracy>=0.8', or --pass 'toxicity<=0.2'",
            )
        found[match["name"]] = Bar(match["name"], bar, match["how"] == "<=")
    return found


@dataclass(frozen=True, slots=True)
class Own:
    """How the tool itself decides.

    Attributes:
        thresholds: From which value on a score passes, where it has a rule for it.
        decides: The only graders that decide; empty where all do that can.
        verdicts: Whether it gave a verdict of its own.
    """

    thresholds: Mapping[str, float] = field(default_factory=dict)
    decides: Sequence[str] = ()
    verdicts: bool = False


def bars_of(seen: Mapping[str, Seen], own: Own, rules: Mapping[str, Bar]) -> Bars:
    """Return which scores decide.

    What the user named decides, else the tool's own verdict, else all scores that the tool has a
    bar for or that are from 0 to 1.

    Args:
        seen: The values of each grader, in the order it first came.
        own: How the tool itself decides.
        rules: What the user named.

    Raises:
        UsageError: nothing would decide, or what was named is not there.
    """
    for name in rules:
        if name not in seen and not (name == PASSED and own.verdicts):
            known = [*seen, *([PASSED] if own.verdicts else [])]
            raise UsageError(unknown_name(name, known, "score "), where="--pass")
    if rules:
        stands = own.verdicts and PASSED in rules
        names = [*seen, *([PASSED] if stands and PASSED not in seen else [])]
        return _bars(names, rules, own=stands)
    if own.verdicts:
        return _bars(
            [*(n for n in seen if n != PASSED), PASSED], {PASSED: Bar(PASSED, 1)}, own=True
        )
    deciding = {
        name: Bar(name, own.thresholds.get(name, _USUAL))
        for name, values in seen.items()
        if (name in own.decides if own.decides else name in own.thresholds or values.is_share)
    }
    if not deciding and not seen:
        # All went wrong before anything was scored.
        deciding = {PASSED: Bar(PASSED, 1)}
        return _bars([PASSED], deciding, own=True)
    if not deciding:
        name, values = next(iter(seen.items()))
        raise UsageError(
            "nothing says from which value on a trial passes",
            why=f"{name} goes from {values.least:g} to {values.most:g}",
            fix=f"say it: --pass '{name}>=VALUE', or --pass '{name}<=VALUE' where less is better",
        )
    return _bars([*seen], deciding, own=False)


def _bars(names: Sequence[str], deciding: Mapping[str, Bar], *, own: bool) -> Bars:
    graders = []
    for name in names:
        bar = deciding.get(name)
        graders.append(
            {"name": name, "required": False, "weight": 0.0}
            if bar is None
            else {
                "name": name,
                "threshold": bar.threshold,
                "lower_is_better": bar.lower_is_better,
            }
        )
    return Bars(graders, deciding, own)

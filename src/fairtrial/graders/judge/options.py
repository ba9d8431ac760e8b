"""Options of a judge, and the menu of its answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta

from fairtrial.model.errors import UsageError

Part: TypeAlias = Literal["input", "output", "expected", "metadata"]


@dataclass(frozen=True)
class Options:
    """Options of a judge grader."""

    rubric: Annotated[str, Meta(min_length=1)]
    """What makes an output good, in plain words: all that the judge knows of it. `@FILE` takes it
    from a file."""
    choices: Mapping[str, float] | tuple[str, ...] | None = None
    """The verdicts it may give, each with its value from 0 to 1, `{"good": 1, "bad": 0}`; or their
    names alone, from the best (1) to the worst (0), evenly spaced. Without them it gives a score
    from 0 to 1."""
    provider: Any = None
    """Who runs the model: the name of a provider, or an object with `kind` and its options. Unless
    given, the first that can be used here; the run's spec then says which."""
    model: str | None = None
    """The model; the provider's own choice unless given."""
    judges: tuple[Mapping[str, Any], ...] = ()
    """Several judges instead of one: `{"provider": …, "model": …}` each."""
    samples: Annotated[int, Meta(ge=1, le=100)] = 1
    """How often each judge is asked about one output."""
    combine: Literal["majority", "mean"] | None = None
    """How several answers become one value: `majority`, what more than half of all say, or `mean`,
    which needs all of them (default: majority of choices, mean of scores)."""
    include: tuple[Part, ...] = ("input", "output", "expected")
    """What the judge sees: any of `input`, `output`, `expected`, `metadata`; `output` always."""
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    """How freely the model draws; the provider's own choice unless given."""
    max_tokens: Annotated[int, Meta(ge=16)] = 1024
    """The most tokens of one answer, the reason included."""
    timeout: Annotated[float, Meta(gt=0, le=86400)] = 120.0
    """Seconds that one call may take."""
    retries: Annotated[int, Meta(ge=0, le=100)] = 3
    """Retries of a call after a rate limit, 5xx or network error."""
    version: int | None = None
    """The version of fairtrial's question to the judge; a run fills it in, so that it is known
    what was asked."""


@dataclass(frozen=True, slots=True)
class Menu:
    """What a judge may answer.

    Attributes:
        choices: Value of each choice, the best first; None asks for a score from 0 to 1.
    """

    choices: Mapping[str, float] | None

    @property
    def key(self) -> str:
        """What the verdict is called in an answer."""
        return "score" if self.choices is None else "choice"

    @property
    def form(self) -> str:
        """What an answer looks like."""
        if self.choices is None:
            shown = "A NUMBER FROM 0 TO 1"
        else:
            shown = " OR ".join(f'"{name}"' for name in self.choices)
        return f'{{"reason": "WHY, IN A FEW SENTENCES", "{self.key}": {shown}}}'


def menu_of(options: Options, where: str) -> Menu:
    """Return the menu that options describe.

    Raises:
        UsageError: there are fewer than two choices, or one has no name or no value from 0 to 1.
    """
    given = options.choices
    if given is None:
        return Menu(None)
    names = list(given)
    problem = _problem_of_names(names)
    if problem is not None:
        raise UsageError(f"'choices' {problem}", where=where)
    if isinstance(given, Mapping):
        wrong = next((n for n, v in given.items() if not math.isfinite(v) or not 0 <= v <= 1), None)
        if wrong is not None:
            what = f"'choices' gives {wrong!r} the value {given[wrong]:g}, which is not from 0 to 1"
            raise UsageError(what, where=where)
        values = dict(given)
    else:
        values = {name: 1 - i / (len(names) - 1) for i, name in enumerate(names)}
    if len(set(values.values())) == 1:
        raise UsageError("all 'choices' have one value, so nothing could fail", where=where)
    best_first = sorted(values, key=lambda name: -values[name])
    return Menu({name: float(values[name]) for name in best_first})


def _problem_of_names(names: list[str]) -> str | None:
    if len(names) < 2:
        return "needs at least two"
    if len(set(names)) < len(names):
        return "names one twice"
    odd = next((name for name in names if not name.strip() or not name.isprintable()), None)
    if odd is not None:
        return f"has {odd!r}: a choice is one printable line"
    quoted = next((name for name in names if '"' in name or "\\" in name), None)
    return None if quoted is None else f"has {quoted!r}: no quote and no backslash may stand in one"

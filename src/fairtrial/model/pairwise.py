"""A pairwise judge: which of two outputs of one case is better, asked in both orders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairtrial.model.call import ProviderSpec
from fairtrial.model.case import CaseKey
from fairtrial.model.json import Json

Winner: TypeAlias = Literal["a", "b", "tie"]
"""Which arm's output is better."""


@dataclass(frozen=True, slots=True)
class PairwiseSpec:
    """A pairwise judge as the user wrote it.

    Attributes:
        name: What reports call it; unique in a comparison.
        rubric: What makes one output better than another.
        provider: Who runs the model.
        model: The model; None is the provider's own choice.
        max_tokens: The most tokens of one answer.
        temperature: None is the provider's own choice.
        timeout_s: Seconds that one call may take.
    """

    name: str
    rubric: str
    provider: ProviderSpec
    model: str | None = None
    max_tokens: int = 1024
    temperature: float | None = None
    timeout_s: float = 120.0

    def content(self) -> dict[str, Json]:
        """Return the spec as one JSON object."""
        return {
            "kind": "pairwise",
            "name": self.name,
            "rubric": self.rubric,
            "provider": self.provider.content(),
            "model": self.model,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """Both arms' outputs of one row.

    Attributes:
        key: The case and its condition.
        input: The case's input.
        a: The output of A's first decided trial.
        b: The output of B's first decided trial.
    """

    key: CaseKey
    input: Json
    a: Json
    b: Json


@dataclass(frozen=True, slots=True)
class Answer:
    """What a judge said of one pair in one order.

    Attributes:
        winner: The better arm; None when no answer could be had.
        reason: The judge's reason, or why there is no answer.
        infra: What kind of infrastructure problem took the answer; None when none did.
        calls: How often the model was called for it; 0 when it was kept from an earlier time.
        cost_usd: What these calls cost; None is unknown.
    """

    winner: Winner | None
    reason: str
    infra: str | None = None
    calls: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """One row's answers in both orders.

    Attributes:
        key: The case and its condition.
        a_first: What the judge said when it read A's output first.
        b_first: What it said when it read B's first.
    """

    key: CaseKey
    a_first: Answer
    b_first: Answer

    @property
    def winners(self) -> tuple[Winner, Winner] | None:
        """Both answers; None when one is missing."""
        first, second = self.a_first.winner, self.b_first.winner
        return None if first is None or second is None else (first, second)

    @property
    def winner(self) -> Winner | None:
        """The arm that both orders prefer, else a tie; None when an answer is missing."""
        if self.winners is None:
            return None
        first, second = self.winners
        return first if first == second else "tie"

    @property
    def problem(self) -> str | None:
        """Why an answer is missing."""
        missing = (answer for answer in (self.a_first, self.b_first) if answer.winner is None)
        return next((answer.reason for answer in missing), None)


WinnerLabels: TypeAlias = Mapping[CaseKey, Winner]
"""Which output people find better, for some rows."""

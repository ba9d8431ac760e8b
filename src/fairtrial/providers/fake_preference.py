"""How the fake provider compares two outputs: it reads the question as a model would."""

from __future__ import annotations

import re
from typing import Final

from fairtrial.model.call import ModelCall
from fairtrial.model.errors import UsageError

PREFERENCES: Final = ("longer", "shorter", "first", "second", "tie", "orders")
WITH: Final = "with:"
_TOKEN: Final = re.compile(r"<<first output ([0-9a-f]{16,})>>")
_ORDER: Final = re.compile(r"winner\W{1,5}(?:is\W+)?(first|second|tie)", re.IGNORECASE)


def check_preference(prefers: str, where: str) -> None:
    """Refuse an unknown preference.

    Raises:
        UsageError: it is unknown.
    """
    if prefers in PREFERENCES or (prefers.startswith(WITH) and prefers != WITH):
        return
    raise UsageError(
        f"unknown preference {prefers!r}",
        where=where,
        fix=f"known: {', '.join(PREFERENCES)}, {WITH}TEXT",
    )


def preferred(prefers: str, call: ModelCall) -> str | None:
    """Return the slot it prefers: `first`, `second` or `tie`; None when nothing is compared."""
    question = call.messages[0].text
    outputs = _outputs(call.system or "", question)
    if outputs is None:
        return None
    first, second = outputs
    match prefers:
        case "first" | "second" | "tie":
            return prefers
        case "orders":
            return _ordered(question, outputs)
        case "longer":
            return _larger(len(first), len(second))
        case "shorter":
            return _larger(len(second), len(first))
        case _:
            text = prefers.removeprefix(WITH)
            return _larger(text in first, text in second)


def _larger(first: float, second: float) -> str:
    return "tie" if first == second else "first" if first > second else "second"


def _outputs(system: str, question: str) -> tuple[str, str] | None:
    """Return what stands between the fences whose token the instructions name."""
    token = next((t for t in _TOKEN.findall(question) if t in system), None)
    if token is None:
        return None
    first, second = (between(question, name, token) for name in ("first output", "second output"))
    return (first, second)


def between(question: str, name: str, token: str) -> str:
    """Return what stands in a question between the fences of a name; nothing without them."""
    _, _, rest = question.partition(f"<<{name} {token}>>\n")
    return rest.partition(f"\n<<end {name} {token}>>")[0]


def _ordered(question: str, outputs: tuple[str, str]) -> str:
    """Return the winner that a text outside the fences orders, as a gullible model would."""
    for output in outputs:
        question = question.replace(output, "", 1) if output else question
    orders = _ORDER.findall(question)
    return orders[-1].lower() if orders else "tie"

"""How the fake provider judges one output: it reads the question as a model would."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from fairtrial.model.call import ModelCall
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.providers.fake_preference import between

PASSES: Final = ("expected", "all", "none", "orders", "any-orders")
WITH: Final = "with:"
WITHOUT: Final = "without:"
_TOKEN: Final = re.compile(r"<<output ([0-9a-f]{16,})>>")
_ORDER: Final = (
    r"(?:score|choice|verdict|grade|rating)\W{{1,6}}(?:(?:is|of|to|it|as)\W{{1,3}})?(?:{})"
)


def check_passes(passes: str, where: str) -> None:
    """Refuse an unknown way to judge.

    Raises:
        UsageError: it is unknown.
    """
    named = any(passes.startswith(prefix) and passes != prefix for prefix in (WITH, WITHOUT))
    if passes in PASSES or named:
        return
    raise UsageError(
        f"unknown way to judge {passes!r}",
        where=where,
        fix=f"known: {', '.join(PASSES)}, {WITH}TEXT, {WITHOUT}TEXT",
    )


def judged(passes: str, call: ModelCall) -> str | None:
    """Return the answer to a question about one output; None when there is no such question."""
    question, system = call.messages[0].text, call.system or ""
    token = next((t for t in _TOKEN.findall(question) if t in system), None)
    menu = _menu(call)
    if token is None or menu is None:
        return None
    key, best, worst = menu
    passed = _passed(passes, question, token, best)
    reason = f"It {'passes' if passed else 'fails'} by {passes}."
    return json.dumps({"reason": reason, key: best if passed else worst}, ensure_ascii=False)


def _passed(passes: str, question: str, token: str, best: Json) -> bool:
    output = between(question, "output", token)
    if passes.startswith((WITH, WITHOUT)):
        prefix, _, text = passes.partition(":")
        return (text in output) == (prefix + ":" == WITH)
    match passes:
        case "all" | "none":
            return passes == "all"
        case "expected":
            expected = between(question, "expected", token)
            return output != "(empty)" and expected in output
        case "orders":
            return _ordered(question.replace(output, "", 1), best)
        case _:
            return _ordered(question, best)


def _ordered(text: str, best: Json) -> bool:
    """Return whether a text orders the best verdict, or a pass in other words."""
    wanted: Sequence[str] = ["pass", r"1(?:\.0+)?\b", re.escape(str(best))]
    return re.search(_ORDER.format("|".join(wanted)), text, re.IGNORECASE) is not None


def _menu(call: ModelCall) -> tuple[str, Json, Json] | None:
    """Return what the verdict is called in the answer, the best one and the worst one."""
    properties = (call.response_schema or {}).get("properties", {})
    if "score" in properties:
        return "score", 1, 0
    if "choice" in properties:
        names = properties["choice"]["enum"]
        return "choice", names[0], names[-1]
    return None

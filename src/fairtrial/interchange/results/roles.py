"""Which key or column of a plain row means what, under all names that are in use for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id", "case_id", "caseid", "sample_id", "example_id", "test_id", "task_id", "doc_id"),
    "input": ("input", "inputs", "question", "prompt", "query", "vars"),
    "expected": (
        *("expected", "expected_output", "expectedoutput", "target", "reference"),
        *("reference_output", "ideal", "ground_truth", "gold"),
    ),
    "output": (
        *("output", "outputs", "actual_output", "actual", "response", "completion"),
        *("prediction", "generated", "model_output"),
    ),
    "score": ("score",),
    "scores": ("scores",),
    "passed": ("passed", "pass", "success", "correct", "is_correct", "resolved"),
    "reason": ("reason", "explanation", "rationale", "comment"),
    "error": ("error", "exception", "error_message", "problem"),
    "arm": ("arm", "variant"),
    "model": ("model", "model_name", "model_name_or_path"),
    "trial": ("trial", "epoch", "repeat", "iteration"),
    "condition": ("condition",),
    "tags": ("tags",),
    "split": ("split",),
    "metadata": ("metadata",),
    "metrics": ("metrics",),
    "spans": ("spans",),
    "tokens": ("tokens", "usage"),
    "tokens_input": ("tokens_input", "input_tokens", "prompt_tokens"),
    "tokens_output": ("tokens_output", "output_tokens", "completion_tokens"),
    "cost_usd": ("cost_usd", "cost", "total_cost", "total_cost_usd"),
    "duration_s": ("duration_s", "duration", "duration_seconds", "latency_s", "elapsed_s"),
    "duration_ms": ("duration_ms", "latency_ms", "latencyms"),
    "started_at": ("started_at", "start_time", "timestamp", "created_at"),
}
"""Each role with its names, the best first; a name is in one role only."""

_OF: Final = {name: role for role, names in ROLES.items() for name in names}
_SCORES: Final = ("score.", "scores.", "score_", "score:")
_METRICS: Final = ("metric.", "metrics.", "metric_")
_FACTS: Final = ("metadata.",)
_JUDGED: Final = ("score", "scores", "passed", "error")


class Roles:
    """What each key of the rows of one file means.

    Args:
        given: The roles of keys that the user said.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = dict(given)
        self._taken = set(given.values())
        self._known: dict[str, tuple[str, str] | None] = {}

    def of(self, name: str) -> tuple[str, str] | None:
        """Return the role of a key, and its own name within it; None when it has none."""
        if name not in self._known:
            self._known[name] = self._found(name)
        return self._known[name]

    def _found(self, name: str) -> tuple[str, str] | None:
        if name in self._given:
            return self._given[name], name
        plain = name.strip().lower().replace("-", "_").replace(" ", "_")
        role = _OF.get(plain)
        if role is not None and role not in self._taken:
            return role, name
        for prefixes, within in ((_SCORES, "scores"), (_METRICS, "metrics"), (_FACTS, "metadata")):
            for prefix in prefixes:
                if plain.startswith(prefix) and len(plain) > len(prefix):
                    return f"{within}.", name.strip()[len(prefix) :]
        return None


def hold_results(names: set[str], given: Mapping[str, str]) -> bool:
    """Return whether keys are those of results: something that ran, and what it was worth."""
    roles = Roles(given)
    found = {role[0] for name in names if (role := roles.of(name)) is not None}
    what = found & {"id", "input"}
    return bool(what) and bool(found & {*_JUDGED, "scores."})

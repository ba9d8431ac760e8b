"""The rules that are part of the program."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Final

from fairtrial.ports.sessions import FlagRule
from fairtrial.sessions.flags.rule import CourseRule, Tracing

BUILT_IN: Final = (
    "premature_completion",
    "no_verification",
    "stale_verification",
    "repeated_tool_failure",
    "test_tamper",
    "looping",
    "failure_streak",
    "churn",
    "stalled",
    "unverified_claim",
    "done_while_failing",
    "unchanged_retry",
    "permission_blocked",
    "api_error",
    "interrupted",
    "user_correction",
    "ended_by_limit",
    "env_broken",
)
"""The module of each rule."""


def built_in_rules() -> list[FlagRule]:
    """Return the rules of the program; those of one call share what they find out."""
    tracing = Tracing()
    return [dataclasses.replace(_rule(name), tracing=tracing) for name in BUILT_IN]


def _rule(module: str) -> CourseRule:
    rule: CourseRule = importlib.import_module(f"fairtrial.sessions.flags.{module}").RULE
    return rule

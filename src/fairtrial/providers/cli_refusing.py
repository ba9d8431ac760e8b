"""A hook that refuses every tool a model asks for, as Claude Code and Codex take it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from fairtrial.model.json import Json

_ANSWER: Final = json.dumps(
    {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "Nothing is run here.",
        }
    }
)
_LONGEST_WAIT_S: Final = 60


def refusing_hooks(wait_s: int = 0) -> dict[str, Json]:
    """Return the setting `hooks`.

    Args:
        wait_s: Seconds before it answers, for whoever ends the program meanwhile. It refuses
            afterwards all the same: a hook that gives no answer would let the tool run.
    """
    wait = f"sleep {wait_s}; " if wait_s else ""
    command = f"{wait}printf '%s' '{_ANSWER}'"
    hook: Mapping[str, Json] = {
        "type": "command",
        "command": command,
        "timeout": wait_s + _LONGEST_WAIT_S,
    }
    return {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}

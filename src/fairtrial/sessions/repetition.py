"""When two calls are the same call, and two results the same result."""

from __future__ import annotations

import re
from typing import Final

from fairtrial.conduct.calls import action_key
from fairtrial.conduct.program_names import program_words
from fairtrial.conduct.shell_words import SimpleCommand
from fairtrial.model.session import Call, Operation

_LONGEST: Final = 4_000
_VARYING: Final = re.compile(
    r"\d+(?:\.\d+)? ?(?:ms|s|sec|secs|seconds|minutes|µs|us)\b"  # how long it took
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d\b"
    r"|\b0x[0-9a-fA-F]+\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b(?:pid|PID)[ =:]*\d+|(?:Chunk ID|Wall time|Original token count): ?\S+"
    r"|/tmp/[\w./-]+|/var/folders/[\w./-]+"
)
_SPACE: Final = re.compile(r"\s+")
_POLLS: Final = frozenset(
    {"sleep", "wait", "curl", "wget", "ping", "nc", "tail", "watch", "ps", "pgrep", "top", "lsof"}
    | {"netstat", "ss", "jobs", "gh", "glab", "docker", "kubectl", "systemctl", "http", "timeout"}
    | {"until", "aws", "gcloud", "az", "squeue", "nvidia-smi", "df", "free", "uptime", "date"}
)


def call_key(call: Call) -> bytes:
    """Return what is equal for two calls of one tool with the same input."""
    return action_key(call.tool, call.command, call.input)


def normalised(text: str) -> str:
    """Return a result's text without times, ids and temporary paths; its start and end only."""
    if len(text) > 2 * _LONGEST:
        text = f"{text[:_LONGEST]}{text[-_LONGEST:]}"
    return _SPACE.sub(" ", _VARYING.sub("", text)).strip()


def is_poll(call: Call, commands: tuple[SimpleCommand, ...]) -> bool:
    """Return whether a call looks whether something has happened meanwhile."""
    if call.operation in (Operation.WAIT, Operation.AGENT, Operation.WEB):
        return True
    for command in commands:
        words = program_words(command.words)
        if words and words[0] in _POLLS and not (words[0] == "tail" and len(commands) > 1):
            return True
    return False

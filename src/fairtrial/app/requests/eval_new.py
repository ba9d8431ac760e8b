"""Options of `eval new`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairtrial.app.drafting_options import Checking
from fairtrial.schema.fields import group, option


@dataclass(frozen=True, slots=True)
class Request:
    """Make an eval task of one session, flagged or not.

    It begins with the repository as it was before the session, and has its first prompt as the
    instruction, your verifier, and what the session changed as a near miss.
    """

    session: str = option(positional=True)
    """Session id, prefix, agent's own id, latest or latest#-N"""
    checking: Checking = group(Checking)
    name: str | None = option(None, metavar="NAME")
    """The name of the task (default: the first words of the instruction)"""
    instruction_file: Path | None = option(None, metavar="FILE")
    """What the agent is told, in place of the session's first prompt"""
    repo: Path | None = option(None, metavar="DIR")
    """The repository that the task is written to (default: the one around the current folder)"""


EXAMPLES = (
    "fairtrial eval new latest --verifier 'npm test' --hidden-test test/output.test.ts",
    "fairtrial eval new ses_5rf4je --verifier 'pytest -q' --protected 'tests/*' --name cart-total",
)

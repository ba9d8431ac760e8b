"""What reading a rollout goes on with."""

from __future__ import annotations

import msgspec

from fairtrial.sessions.account import Account
from fairtrial.sessions.readers.codex.tokens import PARTS
from fairtrial.sessions.readers.codex.tools import Pending


class State(msgspec.Struct):
    """What reading goes on with.

    Attributes:
        account: What is known so far.
        own: The id of the thread; None until the first record of facts.
        headless: No human sits before it.
        starts_at: Records before this ordinal are copied from the parent.
        copying: Records are copied from the parent until a turn of the own thread begins.
        pending: Calls without an output, by their id.
        running: Calls whose command goes on after its output.
        ended: The newest calls whose output told how they ended.
        model: The model of this turn.
        total: The newest sum of tokens that was told.
        per_call: Tokens are told for each call.
        asked: The newest prompt, to know it again in another record.
        asking: A text in a user message that may be a prompt, until a record tells.
        said: The newest text, likewise.
        thought: The newest thought, likewise.
    """

    account: Account = msgspec.field(default_factory=Account)
    own: str | None = None
    headless: bool = False
    starts_at: int | None = None
    copying: bool = False
    pending: dict[str, Pending] = msgspec.field(default_factory=dict)
    running: set[str] = msgspec.field(default_factory=set)
    ended: list[str] = msgspec.field(default_factory=list)
    model: str | None = None
    total: list[int] = msgspec.field(default_factory=lambda: [0] * len(PARTS))
    per_call: bool = False
    asked: str | None = None
    asking: str | None = None
    said: str | None = None
    thought: str | None = None

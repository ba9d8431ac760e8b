"""The request that an agent's next turn answers, as far as a transcript tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fairtrial.model.call import WireCall
from fairtrial.model.json import Json


class Fidelity(StrEnum):
    """How near a request is to the one that was sent."""

    EXACT = "exact"
    """The recorded request: its messages have the hashes that the agent wrote down."""
    CONVERSATION = "conversation"
    """Every turn as it was recorded; the instructions of the agent itself or its tools are not."""
    NEAR = "near"
    """Made of what the store keeps of the session: long texts are cut, what agents add is not."""


@dataclass(frozen=True, slots=True)
class HarnessPlace:
    """Where a request tells the agent of the harness.

    Attributes:
        agent: The agent, which says what it is told in its own form.
        root: Root of the repository as the agent saw it.
        cwd: Folder that it worked in, from the root; `.` is the root.
        at: Each text with instructions, as the names and positions that lead to it in the body.
            Empty when it was told of none: then they are put before the first turn.
    """

    agent: str
    root: str
    cwd: str
    at: tuple[tuple[str | int, ...], ...] = ()

    def content(self) -> dict[str, Json]:
        """Return the place as one JSON object."""
        return {
            "agent": self.agent,
            "root": self.root,
            "cwd": self.cwd,
            "at": [list(path) for path in self.at],
        }

    @classmethod
    def read(cls, given: Mapping[str, Json]) -> HarnessPlace:
        """Return the place that `content` wrote.

        Raises:
            ValueError: it is none.
        """
        names = [given.get(name) for name in ("agent", "root", "cwd")]
        at = given.get("at")
        if not all(isinstance(name, str) for name in names) or not isinstance(at, list):
            raise ValueError("a place of a harness has agent, root, cwd and at")
        if not all(isinstance(path, list) and path for path in at):
            raise ValueError("each path of `at` is a list of names and positions")
        agent, root, cwd = map(str, names)
        return cls(agent, root, cwd, tuple(tuple(path) for path in at))


@dataclass(frozen=True, slots=True)
class NextTurn:
    """A request whose answer is an agent's next turn.

    Attributes:
        call: The request.
        place: Where it tells of the harness.
        fidelity: How near it is to what was sent.
        why: Why it is no nearer; empty when it is exact.
    """

    call: WireCall
    place: HarnessPlace
    fidelity: Fidelity
    why: str = ""

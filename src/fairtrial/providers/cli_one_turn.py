"""Runs Codex until its model has taken one turn, and prints that turn.

Codex has no limit of turns: a tool that was refused is told to the model, which then answers again.
This program, run by its path in an interpreter of its own, follows what Codex writes of the thread.
Once the model's first answer is whole and asks for tools, Codex is ended. Its hooks still wait
then, so that none of the tools has begun, and nothing was asked a second time.

    python -I -S cli_one_turn.py ROLLOUT PROGRAM ARGUMENT...

The last line it prints is an object with the type `fairtrial.turn`, the items of the answer, and
its usage (null when it is not known).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

TYPE: Final = "fairtrial.turn"
_EVERY_S: Final = 0.02
_OF_THE_MODEL: Final = ("reasoning", "function_call", "custom_tool_call", "local_shell_call")
_CALLS: Final = _OF_THE_MODEL[1:]


@dataclass(slots=True)
class Turn:
    """What a model wrote as its first answer.

    Attributes:
        items: The items of the answer.
        usage: What it took, once the answer is whole.
        over: Whether what follows is no part of it.
    """

    items: list[Any] = field(default_factory=list)
    usage: Any = None
    over: bool = False
    _partial: bytes = b""

    @property
    def asks(self) -> bool:
        """Whether it asks for tools."""
        return any(item.get("type") in _CALLS for item in self.items)

    def read(self, data: bytes) -> None:
        """Take what was written since."""
        *whole, self._partial = (self._partial + data).split(b"\n")
        for line in whole:
            with contextlib.suppress(ValueError):
                record = json.loads(line)
                if not self.over and isinstance(record, dict):
                    self._take(record)

    def _take(self, record: dict[str, Any]) -> None:
        payload = record.get("payload")
        if not isinstance(payload, dict):
            return
        kind = payload.get("type")
        if record.get("type") == "token_usage_record":
            self.usage, self.over = payload.get("usage"), True
        elif record.get("type") == "response_item":
            said = kind == "message" and payload.get("role") == "assistant"
            if said or kind in _OF_THE_MODEL:
                self.items.append(payload)
            elif str(kind).endswith("_output"):
                self.over = True  # an older release, which tells the usage later or not at all


def main(arguments: list[str]) -> int:
    """Run the program; return its exit status, or 0 when it was ended for being done."""
    rollout, *command = arguments
    # A group of its own: what npm installs is a script that starts the program proper.
    child = subprocess.Popen(command, start_new_session=True)  # noqa: S603  # not a shell's text
    ended = _ended_by_us(child, Path(rollout), turn := Turn())
    status = child.wait()
    told = {"type": TYPE, "items": turn.items, "usage": turn.usage}
    sys.stdout.write(f"\n{json.dumps(told)}\n")
    return 0 if ended else (status if status >= 0 else 128 - status)


def _ended_by_us(child: subprocess.Popen[bytes], rollout: Path, turn: Turn) -> bool:
    with rollout.open("rb") as written:
        written.seek(0, os.SEEK_END)
        while child.poll() is None:
            if _is_done(written, turn):
                os.killpg(child.pid, signal.SIGKILL)
                return True
            time.sleep(_EVERY_S)
        turn.read(written.read())
    return False


def _is_done(written: BinaryIO, turn: Turn) -> bool:
    turn.read(written.read())
    return turn.over and turn.asks


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A process that reads transcripts for another one: `python -m fairtrial.app.reading_process`."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

from fairtrial.model.task import Tokens
from fairtrial.redaction.own_rules import SESSION_RULES, own_rules
from fairtrial.redaction.secrets import Redactor
from fairtrial.sessions.helping import Helper, Setup, serve
from fairtrial.sessions.pricing import CallPrices
from fairtrial.sessions.reading import Ways
from fairtrial.sessions.registry import flag_rules, readers
from fairtrial.sessions.repositories import Repositories
from fairtrial.store.session_events import pack_events

_RARELY = 100_000
"""New objects between two searches for garbage: events are many, and none is in a circle."""


class _Unpriced:
    """Knows no price: the process that writes asks for prices once for all files."""

    def cost_usd(self, _model: str, _tokens: Tokens) -> float | None:
        return None

    def knows(self, _model: str) -> bool:
        return False


def _helper(setup: Setup) -> Helper:
    sys.path[:] = setup.path
    secrets = Path(setup.home) / "secrets.json"
    clean = Redactor((*SESSION_RULES, *own_rules(secrets))).body
    ways = Ways(clean, pack_events, CallPrices(_Unpriced()), Repositories())
    by_agent = {reader.agent: reader for reader in readers()}
    return Helper(by_agent.__getitem__, ways, flag_rules(setup.muted))


def main() -> None:
    """Work until standard input ends."""
    gc.freeze()
    gc.set_threshold(_RARELY)
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a rule of the user's prints is no answer
    status = 1
    try:
        serve(_helper, sys.stdin.buffer, sink)
        status = 0
    except Exception as error:  # noqa: BLE001  # the other process tells that this one ended
        sys.stderr.write(f"fairtrial: a process that reads transcripts: {error!r}\n")
    finally:
        sys.stderr.flush()
        # Each answer is written by now, and the thread that listens may never come back.
        os._exit(status)


if __name__ == "__main__":
    main()

"""What the repository held before a session, by all that a bench knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.model.session import Session, SessionEvent
from fairtrial.model.start_state import StartState
from fairtrial.redaction.own_rules import SESSION_RULES, own_rules
from fairtrial.redaction.secrets import Redactor
from fairtrial.sessions.start_state.rebuilding import Means, start_state


def start_of(
    bench: Bench, session: Session, events: Sequence[SessionEvent], repo: Path | None = None
) -> StartState:
    """Return the state that a session began with.

    Args:
        bench: The bench.
        session: The session.
        events: All its events.
        repo: A clone in place of the session's own repository.

    Raises:
        StoreError: the store cannot be read.
    """
    snapshots = bench.store.snapshots.of_session(session.agent, session.native_id)

    def clean(data: bytes) -> bytes:
        rules = (*SESSION_RULES, *own_rules(bench.home / "secrets.json"))
        return Redactor(rules).body(data)

    return start_state(session, events, Means(bench.environ, clean, snapshots, repo))

"""What is said of the state that a session began with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.model.json import Json
from fairtrial.model.start_state import Override, StartState
from fairtrial.sessions.start_state.laying_out import LaidOut


@dataclass(frozen=True, slots=True)
class CheckoutReport(Informing):
    """A state that was written.

    Attributes:
        session: The session.
        state: What it began with.
        folder: Where that was written.
        laid_out: What was written.
    """

    schema: ClassVar[str] = "fairtrial.session_checkout/1"

    session: str
    state: StartState
    folder: Path
    laid_out: LaidOut

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "session": self.session,
            "folder": str(self.folder),
            "files": self.laid_out.files,
            "skipped": [{"path": path, "reason": reason} for path, reason in self.laid_out.skipped],
            "start": start_json(self.state),
        }


def start_json(state: StartState) -> dict[str, Json]:
    """Return a state as one JSON object; contents of files by their size and hash."""
    return {
        "grade": state.grade,
        "reasons": list(state.reasons),
        "repo": state.repo,
        "base": None
        if state.base is None
        else {"source": state.base.source, "commit": state.base.commit},
        "snapshot": state.snapshot_id,
        "overrides": [_override(one) for one in state.overrides],
        "unknown": [
            {"path": one.path, "reason": one.reason, "event": one.event} for one in state.unknown
        ],
        "conflicts": [
            {"path": one.path, "reason": one.reason, "event": one.event} for one in state.conflicts
        ],
        "outside": list(state.outside),
    }


def _override(override: Override) -> dict[str, Json]:
    content = override.content
    return {
        "path": override.path,
        "present": content is not None,
        "mode": override.mode,
        "bytes": None if content is None else len(content),
        "sha256": None if content is None else hashlib.sha256(content).hexdigest(),
        "evidence": override.evidence,
        "event": override.event,
    }

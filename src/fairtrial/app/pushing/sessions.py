"""Sessions that trials left behind, read into this store like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.app.requests.sessions_sync import Request
from fairtrial.app.sessions_sync import read_transcripts
from fairtrial.interchange.results.contract import Notes


def sessions_of(bench: Bench, paths: Sequence[str], notes: Notes) -> Mapping[str, str]:
    """Read transcripts; return the id of each one's session by its path."""
    # Those that were read before are wanted, too.
    report = read_transcripts(bench, Request(path=tuple(map(Path, paths)), anew=True))
    for trouble in report.troubles:
        notes.add("transcripts that cannot be read", trouble[:200])
    return {
        file: found.session.id
        for found in bench.store.sessions.many(report.sessions)
        for file in found.session.files
    }

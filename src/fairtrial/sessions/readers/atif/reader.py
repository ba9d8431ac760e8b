"""How trajectories in the Agent Trajectory Interchange Format (ATIF) are found and recognised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial.ports.transcript_files import FoundFile, Place
from fairtrial.sessions.walking import files_under

if TYPE_CHECKING:  # it brings what is not needed to see that nothing is new
    from fairtrial.ports.sessions import Clean, Transcript, TranscriptSource

AGENT = "atif"
_SCHEMA = "ATIF-"


class AtifReader:
    """Reads trajectories, e.g. those in the folder of a Harbor job. See `SessionReader`."""

    agent = AGENT
    version = 1

    def places(self, environ: Mapping[str, str], home: Path) -> Sequence[Place]:  # noqa: ARG002  # jobs lie anywhere
        """Return no place: jobs are where their user puts them."""
        return []

    def files(self, folder: Path) -> Iterator[FoundFile]:
        """Yield the trajectories under a folder."""
        for found in files_under(folder, (".json",)):
            if found.path.rpartition("/")[2].startswith("trajectory"):
                yield found

    def recognises(self, head: Sequence[Mapping[str, object]]) -> bool:
        """Return whether a document says that it is a trajectory, of whatever version."""
        first = head[0] if head else {}
        return str(first.get("schema_version")).startswith(_SCHEMA)

    def source(self, path: str) -> TranscriptSource:
        """See `SessionReader.source`."""
        # Its modules are not needed to see that nothing is new.
        from fairtrial.sessions.documents import Document  # noqa: PLC0415
        from fairtrial.sessions.readers.atif.records import split  # noqa: PLC0415

        return Document(path, split)

    def start(self, path: Path, clean: Clean) -> Transcript:
        """See `SessionReader.start`."""
        from fairtrial.sessions.readers.atif.transcript import AtifTranscript  # noqa: PLC0415  # as above

        return AtifTranscript(path, clean)

    def resume(self, path: Path, clean: Clean, state: bytes) -> Transcript:
        """See `SessionReader.resume`."""
        from fairtrial.sessions.readers.atif.transcript import AtifTranscript  # noqa: PLC0415  # as above

        return AtifTranscript(path, clean, state)

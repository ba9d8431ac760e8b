"""Options of `demo`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Run a small real experiment, offline, in a temporary store.

    Two small programs that read the total off an invoice stand in for two versions of an agent.
    Each runs 3 trials on each of 40 cases, and the second is compared with the first. Nothing is
    left behind unless you say where.
    """

    keep: Path | None = option(None, metavar="FOLDER")
    """Keep the store, the cases, the two programs and their specs in this new folder, to go on from
    there"""


EXAMPLES = ("fairtrial demo", "fairtrial demo --keep my-first-trial")

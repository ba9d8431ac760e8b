"""W11: intervals and tests at a million rows.

In a process of its own: the peers it imports are large, and this one has to stay small.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields

from bench.place import TINY, Place
from bench.table import Row


def run(place: Place) -> list[Row]:
    """Measure each beside the bare numpy or peer computation of the same numbers."""
    words = ["--json", "--rounds", str(place.rounds)]
    words += ["--tiny"] if place.sizes == TINY else []
    done = subprocess.run(
        [sys.executable, "-m", "bench.stats", *words], stdout=subprocess.PIPE, check=False
    )
    names = {field.name for field in fields(Row)}
    return [
        Row(**{name: value for name, value in row.items() if name in names})
        for row in json.loads(done.stdout)
    ]

"""W7: transcripts of Claude Code into the store, flags included; again with nothing new; large."""

from __future__ import annotations

import functools
import shutil

from bench.measuring import MB, Command, in_turns, measure
from bench.place import Place
from bench.table import Row, times
from bench.transcripts import write_transcripts

FILE = 200_000
"""Bytes of each transcript."""
LARGE = 500_000
"""Bytes of the single large transcript, for each of the smaller sizes' cases."""


def run(place: Place) -> list[Row]:
    """Measure `sessions sync` beside the decoding of the same lines, and beside bare Python."""
    many, large = place.folder / "many", place.folder / "large"
    written = write_transcripts(many, place.sizes.cases, FILE)
    big = write_transcripts(large, 1, LARGE * place.sizes.cases)

    def sync(home: str, folder: str, *, anew: bool) -> Command:
        words = ("sessions", "sync", "--agent", "claude-code", "--json")
        command = place.fairtrial(*words, home=home, CLAUDE_CONFIG_DIR=str(place.folder / folder))
        stored = place.folder / home
        before = functools.partial(shutil.rmtree, stored, ignore_errors=True) if anew else None
        return Command(command.argv, command.env, command.cwd, before=before)

    measure(sync("again", "many", anew=False))
    results = in_turns(
        place.rounds,
        ingest=sync("ingest", "many", anew=True),
        decode=place.floor("transcripts", many),
        again=sync("again", "many", anew=False),
        bare=Command((place.python, "-c", "pass")),
    )
    single = measure(sync("single", "large", anew=True))
    size = f"{written / 1e6:,.0f} MB in {place.sizes.cases:,} files"
    return [
        times("W7", f"sessions sync, {size}; decoding", results["ingest"], results["decode"], 6),
        times("W7", "again, nothing new; bare Python", results["again"], results["bare"], 12),
        Row(
            "W7",
            f"memory of one transcript of {big / 1e6:,.0f} MB",
            "MB",
            single.rss / MB,
            None,
            320,
        ),
    ]

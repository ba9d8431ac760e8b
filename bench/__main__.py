"""`python -m bench`: run the workloads and print what they took."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

from bench import table
from bench.place import TINY, Place, Sizes

WORKLOADS = {
    "W1": "bench.w1_start",
    "W2": "bench.w2_cases",
    "W3": "bench.w3_commands",
    "W4": "bench.w4_http",
    "W5": "bench.w5_large_store",
    "W6": "bench.w6_compare",
    "W7": "bench.w7_sessions",
    "W8": "bench.w8_proxy",
    "W9": "bench.w9_resume",
    "W10": "bench.w10_metrics",
    "W11": "bench.w11_statistics",
    "W12": "bench.w12_workspaces",
}
"""Each module has a `run(place) -> list[Row]`."""


def main(words: list[str] | None = None) -> int:
    """Run the chosen workloads; 1 when a target is missed, so that a script can tell."""
    options = _parser().parse_args(words)
    chosen = options.only or list(WORKLOADS)
    rows: list[table.Row] = []
    for name in chosen:
        with tempfile.TemporaryDirectory(prefix="fairtrial-bench-") as folder:
            sizes = TINY if options.tiny else Sizes()
            place = Place(Path(folder), options.rounds, sizes, options.python)
            if not options.json:
                print(f"{name} …", file=sys.stderr, flush=True)
            rows += importlib.import_module(WORKLOADS[name]).run(place)
    print(table.as_json(rows) if options.json else table.text(rows))
    return 0 if all(row.holds for row in rows) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--only", action="append", choices=list(WORKLOADS), help="a workload (repeatable)"
    )
    parser.add_argument("--rounds", type=int, default=5, help="times each command is measured")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--tiny", action="store_true", help="a few cases: to test the benchmarks")
    parser.add_argument(
        "--python",
        default=sys.executable,
        help="interpreter of the environment to measure (default: this one); "
        "start-up is best measured in a clean one",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())

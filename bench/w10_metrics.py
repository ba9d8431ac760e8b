"""W10: what a measured run costs beyond the program itself."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from bench.measuring import Command, Result, in_turns
from bench.place import Place
from bench.table import Row

FEW = 5
"""Pairs of the short run: the difference to the long one is runs only, without any start."""


def run(place: Place) -> list[Row]:
    """Measure `/bin/true` in pairs beside hyperfine without a shell, and bare posix_spawn."""
    many = FEW + place.sizes.cases // 10
    commands = {
        "few": _metrics(place, FEW),
        "many": _metrics(place, many),
        "floor_few": place.floor("spawning", 2 * FEW),
        "floor_many": place.floor("spawning", 2 * many),
    }
    hyperfine = shutil.which("hyperfine")
    if hyperfine:
        commands["peer_few"] = _hyperfine(hyperfine, 2 * FEW)
        commands["peer_many"] = _hyperfine(hyperfine, 2 * many)
    else:
        print("W10: no hyperfine on PATH, so there is no row against it", file=sys.stderr)
    results = in_turns(place.rounds, **commands)
    runs = 2 * (many - FEW)
    ours = _each(results["few"], results["many"], runs)
    floor = _each(results["floor_few"], results["floor_many"], runs)
    rows = [_row("posix_spawn", ours, floor, None)]
    if hyperfine:
        peer = _each(results["peer_few"], results["peer_many"], runs)
        told = _told(results["many"].samples[-1].output)
        rows.append(_row("hyperfine -N", ours, peer, 1.5))
        rows.append(Row("W10", "wall_s of a run, as reported", "µs", told, peer.wall_us, None))
    return rows


@dataclass(frozen=True, slots=True)
class Each:
    """What one run takes, in microseconds."""

    wall_us: float
    cpu_us: float


def _row(beside: str, ours: Each, floor: Each, target: float | None) -> Row:
    what = f"a run of /bin/true beside {beside}"
    cpu = ours.cpu_us / floor.cpu_us
    return Row("W10", what, "µs", ours.wall_us, floor.wall_us, target, cpu=cpu)


def _metrics(place: Place, pairs: int) -> Command:
    arm = json.dumps({"kind": "command", "command": ["/bin/true"]})
    arms = ("--arm", f"a={arm}", "--arm", f"b={arm}")
    return place.fairtrial("exp", "metrics", *arms, "--pairs", str(pairs), "--json")


def _hyperfine(program: str, runs: int) -> Command:
    return Command((program, "-N", "--style", "none", "--runs", str(runs), "/bin/true"))


def _each(few: Result, many: Result, runs: int) -> Each:
    """Return what one run takes: at least 1 µs, should the noise be larger than all runs."""
    wall, cpu = many.wall_s - few.wall_s, many.cpu_s - few.cpu_s
    return Each(max(1.0, wall / runs * 1e6), max(1.0, cpu / runs * 1e6))


def _told(output: bytes) -> float:
    metrics: Sequence[dict[str, object]] = json.loads(output)["metrics"]
    wall = next(metric for metric in metrics if metric["name"] == "wall_s")
    arm = wall["a"]
    assert isinstance(arm, dict)
    return float(arm["median"]) * 1e6

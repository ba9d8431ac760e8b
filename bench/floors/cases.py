"""Workers that pull cases, call a function, compare, and store in groups.

It stores what we store: rows, trials, scores and bodies, as durably. Arguments: cases, database.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

WORKERS = 4
SCHEMA = """
CREATE TABLE trial_row (id INTEGER PRIMARY KEY, case_id TEXT UNIQUE, passed, failed, duration_s);
CREATE TABLE trial (id INTEGER PRIMARY KEY, row_id, number, verdict, score, started_at, duration_s);
CREATE TABLE score (trial_id, ordinal, value, passed, reason, PRIMARY KEY (trial_id, ordinal))
WITHOUT ROWID;
CREATE TABLE trial_body (trial_id INTEGER PRIMARY KEY, output);
CREATE TABLE tally (passed, failed);
INSERT INTO tally VALUES (0, 0);
"""


async def double(value: dict[str, Any]) -> str:
    return str(value["n"] * 2)


def write(store: sqlite3.Connection, group: list[tuple[int, str, str, bool, float, float]]) -> None:
    rows, trials, scores, bodies = [], [], [], []
    for n, case_id, output, passed, started, duration in group:
        rows.append((n, case_id, int(passed), int(not passed), duration))
        verdict = "passed" if passed else "failed"
        trials.append((n, n, 1, verdict, float(passed), int(started * 1e6), duration))
        scores.append((n, 0, float(passed), passed, "equal" if passed else "differs"))
        bodies.append((n, json.dumps({"output": output})))
    store.execute("BEGIN IMMEDIATE")
    store.executemany("INSERT INTO trial_row VALUES (?, ?, ?, ?, ?)", rows)
    store.executemany("INSERT INTO trial VALUES (?, ?, ?, ?, ?, ?, ?)", trials)
    store.executemany("INSERT INTO score VALUES (?, ?, ?, ?, ?)", scores)
    store.executemany("INSERT INTO trial_body VALUES (?, ?)", bodies)
    passed_now = sum(row[2] for row in rows)
    store.execute(
        "UPDATE tally SET passed = passed + ?, failed = failed + ?",
        (passed_now, len(rows) - passed_now),
    )
    store.execute("COMMIT")


async def main(cases: Iterator[tuple[int, dict[str, Any]]], store: sqlite3.Connection) -> None:
    waiting: list[tuple[int, str, str, bool, float, float]] = []
    thread = ThreadPoolExecutor(1)
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    async def work() -> None:
        for n, case in cases:
            started, clock = time.time(), time.monotonic()
            output = await double(case["input"])
            duration = time.monotonic() - clock
            passed = output == case["expected"]
            waiting.append((n, case["id"], output, passed, started, duration))
            if len(waiting) >= 256:
                await asyncio.sleep(0)

    async def record() -> None:
        while waiting or not done.is_set():
            group = waiting.copy()
            waiting.clear()
            if group:
                await loop.run_in_executor(thread, write, store, group)
            else:
                await asyncio.sleep(0.001)

    recorder = asyncio.create_task(record())
    await asyncio.gather(*(work() for _ in range(WORKERS)))
    done.set()
    await recorder
    thread.shutdown()


if __name__ == "__main__":
    for suffix in ("", "-wal", "-shm"):
        Path(sys.argv[2] + suffix).unlink(missing_ok=True)
    database = sqlite3.connect(sys.argv[2], isolation_level=None, check_same_thread=False)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.executescript(SCHEMA)
    with Path(sys.argv[1]).open(encoding="utf-8") as lines:
        asyncio.run(main(enumerate(map(json.loads, lines)), database))
    database.close()

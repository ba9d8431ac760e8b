"""What a comparison costs at least: its two scans, and a bootstrap over distinct differences.

The 10,000 draws are multinomial weights over the distinct differences, which takes the same time
at any number of cases. Argument: the database, which holds two experiments.
"""

from __future__ import annotations

import sqlite3
import sys

import numpy as np

ROWS = "SELECT case_id, condition, passed, failed FROM trial_row WHERE experiment_id = ?"


def main(store: sqlite3.Connection) -> None:
    a, b = (
        {(case, condition): passed / (passed + failed) for case, condition, passed, failed in rows}
        for rows in (store.execute(ROWS, (number,)) for number in (1, 2))
    )
    d = np.array([b[key] - rate for key, rate in a.items() if key in b])
    values, counts = np.unique(np.round(d, 9), return_counts=True)
    draws = np.random.default_rng(0).multinomial(d.size, counts / d.size, 10_000)
    lower, upper = np.quantile(draws @ values / d.size, [0.025, 0.975])
    print(d.mean(), lower, upper)


if __name__ == "__main__":
    main(sqlite3.connect(sys.argv[1]))

"""Run by a lane: joins control groups, then becomes the program."""

from __future__ import annotations

import json
import os

from . import kernel


def main(file: str) -> None:
    """Become the program of the order in a file: `cgroups`, `cwd`, `argv`, `env`."""
    with open(file, encoding="utf-8", errors="surrogateescape") as source:  # noqa: PTH123  # slow
        order = json.load(source)
    os.unlink(file)  # noqa: PTH108  # it holds the program's environment
    note = os.open(f"{file}.status", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        kernel.join(order["cgroups"])
        os.chdir(order["cwd"])
        os.execvpe(order["argv"][0], order["argv"], order["env"])  # noqa: S606  # no shell
    except OSError as problem:
        os.write(note, json.dumps({"problem": str(problem)}).encode())
        os._exit(1)

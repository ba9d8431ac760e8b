"""Run by a lane: joins control groups, then becomes the program."""

from __future__ import annotations

import os

from . import kernel


def main(file: str) -> None:
    """Become the program of the order in a file: `cgroups`, `cwd`, `argv`, `env`."""
    order, here = kernel.order_in(file), os.open(".", os.O_RDONLY | os.O_CLOEXEC)
    try:
        kernel.join(order["cgroups"])
        os.chdir(order["cwd"])
        os.execvpe(order["argv"][0], order["argv"], order["env"])  # noqa: S606  # no shell
    except OSError as problem:
        os.fchdir(here)
        kernel.note(file, {"problem": str(problem)})
        os._exit(1)

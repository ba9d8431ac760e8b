"""Entry point of the command line."""

from __future__ import annotations

import sys

from fairtrial import __version__
from fairtrial.cli import garbage


def main(words: list[str] | None = None) -> int:
    """Run one command line and return its exit code.

    `--version` is answered before anything else is imported.

    Args:
        words: The command line; None is that of this process, which then ends with it.
    """
    if words is not None:
        return _run(words)
    garbage.postpone()
    try:
        return _run(sys.argv[1:])
    finally:
        garbage.leave()


def _run(words: list[str]) -> int:
    if words in (["--version"], ["-V"]):
        sys.stdout.write(f"fairtrial {__version__}\n")
        return 0
    from fairtrial.cli.dispatch import dispatch  # noqa: PLC0415  # not needed for --version

    return dispatch(words)


if __name__ == "__main__":
    sys.exit(main())

"""Entry point of the command line."""

from __future__ import annotations

import gc
import sys

from fairtrial import __version__

# A start makes 100,000 objects, nearly all of them for good: to look for garbage among them again
# and again, and once more at the exit, took a third of a short command.
_COLLECT_AFTER = (100_000, 50, 100)


def main(words: list[str] | None = None) -> int:
    """Run one command line and return its exit code.

    `--version` is answered before anything else is imported.

    Args:
        words: The command line; None is that of this process, which then ends with it.
    """
    if words is not None:
        return _run(words)
    gc.set_threshold(*_COLLECT_AFTER)
    try:
        return _run(sys.argv[1:])
    finally:
        gc.freeze()


def _run(words: list[str]) -> int:
    if words in (["--version"], ["-V"]):
        sys.stdout.write(f"fairtrial {__version__}\n")
        return 0
    from fairtrial.cli.dispatch import dispatch  # noqa: PLC0415  # not needed for --version

    return dispatch(words)


if __name__ == "__main__":
    sys.exit(main())
